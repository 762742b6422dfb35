// SPDX-License-Identifier: Apache-2.0
#include "decode/region_source.h"

#include <algorithm>
#include <utility>

namespace veravox {

RegionSource::RegionSource(std::unique_ptr<AudioSource> source, const DecodeRegion& region)
    : source_(std::move(source)), region_(region), position_(source_->Seek(region.start_s)) {}

bool RegionSource::Next(MonoBlock& block) {
  MonoBlock whole;
  while (!region_.end_s || position_.rate_hz == 0 ||
         position_.samples < SamplesUntil(*region_.end_s - earlier_s_, position_.rate_hz)) {
    if (!source_->Next(whole)) {
      ended_ = true;
      RequireEnded();
      return false;
    }
    block = Inside(whole);
    if (!block.samples.empty()) {
      begun_ = true;
      return true;
    }
    // The silence in place of lost audio may reach into the region.
    const double silent_until_s = SecondsBefore(position_.samples + whole.silence_ahead);
    const bool reaches_in = whole.silence_ahead > 0 && silent_until_s > region_.start_s;
    if (!begun_ && !reaches_in) damaged_before_ = source_->damaged_packets();
  }
  if (!begun_) throw StageError(ErrorCode::kTooShort, "The region holds no audio.", 0.0);
  return false;
}

void RegionSource::Skip(int64_t samples) {
  // After a Seek() the source knows its position.
  if (position_.rate_hz == 0) return AudioSource::Skip(samples);
  source_->Skip(samples);
  position_.samples += samples;
  begun_ = begun_ || samples > 0;
}

std::vector<Unheard> RegionSource::unheard() const {
  std::vector<Unheard> inside = source_->unheard();
  std::erase_if(inside, [&](const Unheard& part) {
    return (part.at_s < region_.start_s && part.until_s <= region_.start_s) ||
           (region_.end_s && part.at_s >= *region_.end_s);
  });
  return inside;
}

// The part of a block inside the region; moves on to the end of the block.
MonoBlock RegionSource::Inside(const MonoBlock& block) {
  if (block.sample_rate_hz != position_.rate_hz) {
    earlier_s_ = position_s();
    position_ = {0, block.sample_rate_hz};
  }
  const auto size = static_cast<int64_t>(block.samples.size());
  const int64_t start = SamplesUntil(region_.start_s - earlier_s_, position_.rate_hz);
  const int64_t end = region_.end_s ? SamplesUntil(*region_.end_s - earlier_s_, position_.rate_hz)
                                    : position_.samples + size + block.silence_ahead;
  const int64_t from = std::clamp(start - position_.samples, int64_t{0}, size);
  const int64_t to = std::clamp(end - position_.samples, from, size);
  position_.samples += size;
  return {block.samples.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from)),
          block.sample_rate_hz, block.coded_bits * static_cast<double>(to - from) / static_cast<double>(size),
          std::clamp(end - position_.samples, int64_t{0}, block.silence_ahead)};
}

void RegionSource::RequireEnded() const {
  // A file without any audio has another error.
  if (position_.rate_hz == 0) return;
  const double duration_s = position_s();
  if (begun_ && (!region_.end_s || *region_.end_s <= duration_s + kEndToleranceS)) return;
  throw StageError(ErrorCode::kOutOfRange, "The audio ends before the region.", duration_s);
}

}  // namespace veravox
