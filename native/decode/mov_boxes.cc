// SPDX-License-Identifier: Apache-2.0
#include "decode/mov_boxes.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "decode/big_endian.h"

namespace veravox {
namespace {

struct Box {
  std::string type;
  uint64_t stated_bytes = 0;
  uint64_t bytes = 0;  // bytes that exist
};

bool IsLetter(uint8_t byte) { return byte >= ' ' && byte <= '~' && byte != '"'; }

// The outermost boxes (ISO/IEC 14496-12, section 4.2), up to the first bytes that are not a box.
std::vector<Box> OutermostBoxes(ByteSource& source, uint64_t begin) {
  constexpr size_t kMostBoxes = 1000;
  constexpr size_t kHeaderBytes = 8, kLongHeaderBytes = 16;
  std::vector<Box> boxes;
  std::vector<uint8_t> pieces;
  for (uint64_t offset = begin; boxes.size() < kMostBoxes && offset < source.size();) {
    const auto header = ReadInARow(source, offset, kLongHeaderBytes, pieces);
    if (header.size() < kHeaderBytes) break;
    const auto type = header.subspan(4, 4);
    if (!std::all_of(type.begin(), type.end(), IsLetter)) break;
    const uint64_t left = source.size() - offset;
    uint64_t stated = BigEndian(header.first(4));
    if (stated == 0) stated = left;
    if (stated == 1) {
      if (header.size() < kLongHeaderBytes) break;
      stated = BigEndian(header.subspan(8, 8));
    }
    if (stated < kHeaderBytes) break;
    const uint64_t bytes = std::min(stated, left);
    boxes.push_back({std::string(type.begin(), type.end()), stated, bytes});
    offset += bytes;
  }
  return boxes;
}

std::string Described(const Box& box) {
  std::string text = "\"" + box.type + "\" (" + std::to_string(box.bytes);
  if (box.bytes < box.stated_bytes) text += " of " + std::to_string(box.stated_bytes);
  return text + " bytes)";
}

}  // namespace

std::string MissingMovIndex(ByteSource& source, uint64_t begin) {
  constexpr std::string_view kIndex = "moov";
  constexpr size_t kMostTold = 8;
  const std::vector<Box> boxes = OutermostBoxes(source, begin);
  // Of pictures, which have no "moov".
  const auto is_meta = [](const Box& box) { return box.type == "meta"; };
  if (std::any_of(boxes.begin(), boxes.end(), is_meta)) return "";
  std::string problem = "it has no \"moov\" box";
  std::string held;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].type == kIndex) {
      if (boxes[i].bytes == boxes[i].stated_bytes) return "";
      problem = "its \"moov\" box is cut off";
    }
    if (i < kMostTold) held += (i == 0 ? "" : ", ") + Described(boxes[i]);
  }
  if (boxes.size() > kMostTold) held += " and " + std::to_string(boxes.size() - kMostTold) + " more";
  return "The file is incomplete: " + problem +
         ", which describes the audio. The recording ended too early, or the upload was cut off. " +
         (held.empty() ? "The file holds nothing else." : "The file holds " + held + ".");
}

}  // namespace veravox
