// SPDX-License-Identifier: Apache-2.0
#include "prepare/coded_rate.h"

#include <gtest/gtest.h>

#include <limits>

namespace veravox::test {
namespace {

constexpr int64_t kSecond = 16000;
constexpr SampleRange kFirstWindow{0, 5 * kSecond};

TEST(CodedRateTest, PausesDoNotCount) {
  CodedRate rate;
  for (int frame = 0; frame < 500; ++frame) {
    const bool is_speech = frame >= 170 && frame < 290;
    rate.Add(160.0, is_speech ? 320.0 : 40.0);
  }
  EXPECT_NEAR(rate.BusiestSecond(kFirstWindow), 32000.0, 1e-6);
}

TEST(CodedRateTest, BitsOfLongFramesSpreadOverTheirTime) {
  CodedRate rate;
  rate.Add(4.0 * kSecond, 4 * 24000.0);
  rate.Add(4.0 * kSecond, 4 * 24000.0);
  EXPECT_NEAR(rate.BusiestSecond(kFirstWindow), 24000.0, 1e-6);
}

TEST(CodedRateTest, WindowsShorterThanASecondHaveARate) {
  CodedRate rate;
  rate.Add(0.4 * kSecond, 0.4 * 16000.0);
  EXPECT_NEAR(rate.BusiestSecond({0, 6400}), 16000.0, 1e-6);
  EXPECT_EQ(rate.BusiestSecond({0, 0}), 0.0);
}

TEST(CodedRateTest, OnlyTheWindowCounts) {
  CodedRate rate;
  rate.Add(5.0 * kSecond, 5 * 64000.0);
  rate.Add(5.0 * kSecond, 5 * 8000.0);
  EXPECT_NEAR(rate.BusiestSecond({5 * kSecond, 10 * kSecond}), 8000.0, 1e-6);
  rate.DropBefore(5 * kSecond);
  EXPECT_NEAR(rate.BusiestSecond({5 * kSecond, 10 * kSecond}), 8000.0, 1e-6);
  EXPECT_EQ(rate.BusiestSecond({20 * kSecond, 25 * kSecond}), 0.0);
}

TEST(CodedRateTest, ASavedStateGoesOnWithTheSameNumbers) {
  CodedRate whole;
  whole.Add(4.07 * kSecond, 123456.7);
  SavedState saved;
  whole.Transfer(saved, 4 * kSecond);
  CodedRate rest;
  SavedState read(saved.bytes());
  rest.Transfer(read, 4 * kSecond);
  read.RequireEnd();
  for (CodedRate* rate : {&whole, &rest}) rate->Add(6.3 * kSecond, 98765.4);
  const SampleRange window{4 * kSecond, 9 * kSecond};
  EXPECT_GT(rest.BusiestSecond(window), 0.0);
  EXPECT_EQ(rest.BusiestSecond(window), whole.BusiestSecond(window));
}

// Otherwise a damaged state could ask for any amount of memory, or give NaN as a rate.
TEST(CodedRateTest, DamagedStatesAreRefused) {
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  const auto read = [](std::vector<double> bits, double end) {
    SavedState saved;
    saved.Transfer(bits);
    saved.Transfer(end);
    SavedState state(saved.bytes());
    CodedRate().Transfer(state, kSecond);
  };
  EXPECT_NO_THROW(read({1.0}, kSecond));
  EXPECT_THROW(read({-1.0}, kSecond), StageError);
  EXPECT_THROW(read({kNotANumber}, kSecond), StageError);
  EXPECT_THROW(read({1.0}, kNotANumber), StageError);
  EXPECT_THROW(read({1.0}, -1.0), StageError);
  EXPECT_THROW(read({1.0}, 1e15), StageError);
}

}  // namespace
}  // namespace veravox::test
