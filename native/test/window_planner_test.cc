// SPDX-License-Identifier: Apache-2.0
#include "windows/window_planner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace veravox {
namespace {

constexpr int64_t kWindow = 80000;
constexpr int64_t kResidual = 16000;

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// Feeds `total` samples in steps of `step`, as a decoder would.
Ranges Plan(int64_t total, int64_t step) {
  WindowPlanner planner(kWindow, kResidual);
  Ranges windows;
  SampleRange window;
  for (int64_t seen = 0; seen < total; seen += step) {
    while (planner.Next(seen, false, window)) windows.emplace_back(window.begin, window.end);
  }
  while (planner.Next(total, true, window)) windows.emplace_back(window.begin, window.end);
  return windows;
}

struct Case {
  int64_t total;
  Ranges expected;
};

class WindowPlannerTest : public testing::TestWithParam<Case> {};

TEST_P(WindowPlannerTest, CutsAsDecidedWhateverTheBlockSize) {
  const auto& [total, expected] = GetParam();
  for (const int64_t step : {int64_t{1000}, int64_t{4096}, int64_t{77777}, total + 1}) {
    EXPECT_EQ(Plan(total, step), expected) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Durations, WindowPlannerTest,
                         testing::Values(Case{0, {}},                    //
                                         Case{16000, {{0, 16000}}},      // 1 s
                                         Case{79999, {{0, 79999}}},      // just under 5 s
                                         Case{80000, {{0, 80000}}},      // 5 s
                                         Case{80001, {{1, 80001}}},      // the only window slides
                                         Case{95999, {{15999, 95999}}},  // residual just under 1 s
                                         Case{96000, {{0, 80000}, {16000, 96000}}},    // residual of 1 s
                                         Case{160000, {{0, 80000}, {80000, 160000}}},  // 10 s
                                         Case{160016, {{0, 80000}, {80016, 160016}}},  // 10.001 s
                                         Case{192000,
                                              {{0, 80000}, {80000, 160000}, {112000, 192000}}}));  // 12 s

TEST(WindowPlannerTest, HoldsAWindowBackUntilItsPlaceIsCertain) {
  WindowPlanner planner(kWindow, kResidual);
  SampleRange window;
  EXPECT_FALSE(planner.Next(95999, false, window));
  EXPECT_TRUE(planner.Next(96000, false, window));
}

TEST(WindowPlannerTest, NoLaterWindowBeginsBeforeTheEarliestBegin) {
  for (int64_t total = 1; total < 400000; total += 3331) {
    WindowPlanner planner(kWindow, kResidual);
    SampleRange window;
    for (int64_t seen = 0; seen <= total; seen += 1111) {
      const int64_t promised = planner.earliest_begin();
      while (planner.Next(seen, false, window)) EXPECT_GE(window.begin, promised);
    }
    const int64_t promised = planner.earliest_begin();
    while (planner.Next(total, true, window)) EXPECT_GE(window.begin, promised);
  }
}

}  // namespace
}  // namespace veravox
