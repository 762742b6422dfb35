// SPDX-License-Identifier: Apache-2.0
// Silence that the time stamps of audio imply.
#include "decode/time_line.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace veravox::test {
namespace {

constexpr int kRateHz = 48000;
constexpr int kPacketSamples = 960;
constexpr double kPacketS = 0.02;
constexpr double kAlone = std::numeric_limits<double>::infinity();

// The duration of 20 ms packets with these stamps, including the silence between them.
struct Stamped {
  TimeLine line;
  double silence_s = 0.0;

  void Take(double stamp_s, double origin_s = kAlone) {
    const int64_t silence = line.SilenceBefore(stamp_s, origin_s, kRateHz);
    line.Append(silence + kPacketSamples, kRateHz);
    silence_s += static_cast<double>(silence) / kRateHz;
  }
  // Stamps from one to the other, in order.
  void TakeFrom(double from_s, double to_s) {
    const auto packets = static_cast<int>((to_s - from_s) / kPacketS + 0.5);
    for (int i = 0; i < packets; ++i) Take(from_s + i * kPacketS);
  }
};

TEST(TimeLineTest, GapsCountAsSilenceUpToTheNextStamp) {
  Stamped run;
  run.TakeFrom(0, 2);
  run.TakeFrom(8, 9);
  run.TakeFrom(10.5, 11);
  EXPECT_NEAR(run.silence_s, 7.5, 1e-3);
  EXPECT_NEAR(run.line.position_s(), 11, 1e-3);
}

TEST(TimeLineTest, LostPacketsAddUp) {
  Stamped run;
  for (int i = 0; i < 1000; ++i) {
    if (i % 5 != 4) run.Take(i * kPacketS);
  }
  EXPECT_NEAR(run.line.position_s(), 20, TimeLine::kToleranceS + kPacketS);
}

TEST(TimeLineTest, JitterAndRoundingMakeNoSilence) {
  Stamped run;
  for (int i = 0; i < 2000; ++i) run.Take(i * kPacketS + 0.045 * ((i * 7) % 3 - 1));
  EXPECT_EQ(run.silence_s, 0);
}

TEST(TimeLineTest, AudioThatBeginsLateIsPrecededBySilence) {
  Stamped late;
  late.Take(5.25, 2.0);
  EXPECT_NEAR(late.silence_s, 3.25, 1e-3);
  late.Take(5.27, 0.0);
  EXPECT_NEAR(late.line.position_s(), 3.29, 1e-3);
}

TEST(TimeLineTest, TheFirstStampAloneSaysNothing) {
  for (const double origin_s : {kAlone, 7000.0, 6999.95}) {
    Stamped run;
    run.Take(7000, origin_s);
    run.Take(7000.1, origin_s);
    EXPECT_EQ(run.silence_s, 0) << origin_s;
  }
}

TEST(TimeLineTest, OverlapsMakeNoSilenceAndLaterStampsHoldAgain) {
  Stamped run;
  run.TakeFrom(0, 3);
  run.TakeFrom(2.5, 4);
  EXPECT_EQ(run.silence_s, 0);
  run.TakeFrom(6, 7);
  EXPECT_NEAR(run.line.position_s(), 7, 1e-3);
}

TEST(TimeLineTest, StampsThatStartOverGoOnFromThere) {
  Stamped run;
  run.TakeFrom(100, 110);
  run.TakeFrom(0, 10);
  EXPECT_EQ(run.silence_s, 0);
  run.TakeFrom(14, 15);
  EXPECT_NEAR(run.silence_s, 4, 1e-3);
}

TEST(TimeLineTest, OneStampThatGoesBackChangesNothing) {
  Stamped run;
  run.TakeFrom(0, 30);
  run.Take(0);
  run.TakeFrom(30.02, 40);
  run.Take(12);
  run.TakeFrom(40.02, 50);
  EXPECT_EQ(run.silence_s, 0);
  EXPECT_NEAR(run.line.position_s(), 50, 1e-3);
}

TEST(TimeLineTest, AlternatingStampsDoNotAddUp) {
  Stamped run;
  for (int i = 0; i < 1000; ++i) run.Take(i * kPacketS + (i % 2 == 0 ? 0.0 : 0.5));
  EXPECT_LE(run.silence_s, 0.5);
}

TEST(TimeLineTest, TheRateMayChange) {
  TimeLine line;
  EXPECT_EQ(line.SilenceBefore(0, kAlone, 44100), 0);
  line.Append(44100, 44100);
  EXPECT_EQ(line.SilenceBefore(1, kAlone, 8000), 0);
  line.Append(4000, 8000);
  EXPECT_EQ(line.SilenceBefore(2, kAlone, 8000), 4000);
}

TEST(TimeLineTest, NoStampOverflows) {
  for (const double stamp_s : {1e18, -1e18, 9.3e18 * 1e9}) {
    TimeLine line;
    line.SilenceBefore(0, kAlone, kRateHz);
    line.Append(kPacketSamples, kRateHz);
    const int64_t silence = line.SilenceBefore(stamp_s, kAlone, 384000);
    EXPECT_GE(silence, 0);
    EXPECT_LE(silence, int64_t{1} << 50);
    line.Append(silence + kPacketSamples, 384000);
    EXPECT_GE(line.SilenceBefore(0, kAlone, kRateHz), 0);
  }
}

}  // namespace
}  // namespace veravox::test
