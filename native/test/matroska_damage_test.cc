// SPDX-License-Identifier: Apache-2.0
// Blocks of Matroska that libavformat passes over.
#include "decode/matroska_damage.h"

#include <gtest/gtest.h>

#include "counting_source.h"
#include "decoder_media.h"

namespace veravox::test {
namespace {

// With a size of eight bytes.
ByteVector Element(ByteVector id, const ByteVector& body) {
  id.push_back(1);
  for (int shift = 48; shift >= 0; shift -= 8)
    id.push_back(static_cast<uint8_t>(body.size() >> shift & 0xff));
  return Joined({id, body});
}

// A file whose cluster begins and ends with a block of track 1 that is heard, and what lies between them.
struct Recording {
  explicit Recording(const ByteVector& between) {
    const ByteVector block = Element({0xa3}, Joined({{0x81, 0, 0, 0x80}, ByteVector(20, 7)}));
    const ByteVector cluster = Element({0x1f, 0x43, 0xb6, 0x75}, Joined({block, between, block}));
    const ByteVector file = Element({0x1a, 0x45, 0xdf, 0xa3}, {});
    bytes = Joined({file, Element({0x18, 0x53, 0x80, 0x67}, cluster)});
    last = bytes.size() - 24;
    first = last - between.size() - block.size();
  }

  ByteVector bytes;
  uint64_t first, last;  // where their packets begin
};

uint64_t DamageIn(const Recording& recording, ByteSource& source) {
  MatroskaDamage damage(source, 0);
  const uint64_t before = damage.TakeBefore(recording.first);
  return before + damage.TakeBefore(recording.last) + damage.TakeBefore(recording.bytes.size());
}

uint64_t DamageBetween(const ByteVector& between) {
  const Recording recording(between);
  MemorySource source(recording.bytes);
  return DamageIn(recording, source);
}

TEST(MatroskaDamageTest, NamesBlocksThatAreNotHeard) {
  const ByteVector body = Joined({{0x81, 0, 0, 0x80}, ByteVector(10, 7)});
  const ByteVector block = Element({0xa3}, body);
  const ByteVector group = Element({0xa0}, Joined({Element({0x9b}, {1}), Element({0xa1}, body)}));
  EXPECT_EQ(DamageBetween({}), 0u);
  EXPECT_EQ(DamageBetween(block), block.size());
  EXPECT_EQ(DamageBetween(group), group.size());
}

TEST(MatroskaDamageTest, EmptyBlocksAreNotLost) {
  const ByteVector empty = {0x81, 0, 0, 0x80};
  EXPECT_EQ(DamageBetween(Element({0xa3}, empty)), 0u);
  EXPECT_EQ(DamageBetween(Element({0xa0}, Joined({Element({0xa1}, empty), Element({0x9b}, {1})}))), 0u);
}

TEST(MatroskaDamageTest, AGroupWithoutABlockIsSoonGivenUp) {
  ByteVector voids;
  for (int i = 0; i < 100'000; ++i) voids.insert(voids.end(), {0xec, 0x80});
  const Recording recording(Element({0xa0}, voids));
  CountingSource source(recording.bytes);
  EXPECT_EQ(DamageIn(recording, source), 0u);
  EXPECT_LT(source.reads, 100);
}

}  // namespace
}  // namespace veravox::test
