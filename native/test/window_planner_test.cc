// SPDX-License-Identifier: Apache-2.0
#include "windows/window_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace veravox {
namespace {

constexpr int64_t kWindow = 80000;
constexpr int64_t kMaxUnheard = 1600;

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// Feeds `total` samples in steps of `step`, as a decoder would.
Ranges Plan(int64_t total, int64_t step) {
  WindowPlanner planner(kWindow, kMaxUnheard);
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

INSTANTIATE_TEST_SUITE_P(
    Durations, WindowPlannerTest,
    testing::Values(Case{0, {}},                                  //
                    Case{16000, {{0, 16000}}},                    // 1 s
                    Case{79999, {{0, 79999}}},                    // just under 5 s
                    Case{80000, {{0, 80000}}},                    // 5 s
                    Case{80001, {{1, 80001}}},                    // the only window slides
                    Case{81599, {{1599, 81599}}},                 // a sample less than 0.1 s more
                    Case{81600, {{1600, 81600}}},                 // 0.1 s more
                    Case{81601, {{0, 80000}, {1601, 81601}}},     // a sample more
                    Case{86240, {{0, 80000}, {6240, 86240}}},     // 5.39 s
                    Case{160000, {{0, 80000}, {80000, 160000}}},  // 10 s
                    Case{160016, {{0, 80000}, {80016, 160016}}},  // 10.001 s
                    Case{161600, {{0, 80000}, {81600, 161600}}},  // 10.1 s
                    Case{161601, {{0, 80000}, {80000, 160000}, {81601, 161601}}},
                    Case{174400, {{0, 80000}, {80000, 160000}, {94400, 174400}}},     // 10.9 s
                    Case{192000, {{0, 80000}, {80000, 160000}, {112000, 192000}}}));  // 12 s

TEST(WindowPlannerTest, HoldsAWindowBackUntilItsPlaceIsCertain) {
  WindowPlanner planner(kWindow, kMaxUnheard);
  SampleRange window;
  EXPECT_FALSE(planner.Next(81600, false, window));
  EXPECT_TRUE(planner.Next(81601, false, window));
}

TEST(WindowPlannerTest, LeavesAtMostATenthOfASecondUnheard) {
  for (int64_t total = 1; total < 3 * kWindow; total += 1 + total % 7 * 13) {
    int64_t heard_to = 0;
    int64_t unheard = 0;
    for (const auto& [begin, end] : Plan(total, 4096)) {
      unheard += std::max(int64_t{0}, begin - heard_to);
      EXPECT_EQ(end - begin, std::min(total, kWindow));
      heard_to = end;
    }
    EXPECT_EQ(heard_to, total);
    EXPECT_LE(unheard, kMaxUnheard) << total << " samples";
  }
}

TEST(WindowPlannerTest, NoLaterWindowBeginsBeforeTheEarliestBegin) {
  for (int64_t total = 1; total < 400000; total += 3331) {
    WindowPlanner planner(kWindow, kMaxUnheard);
    SampleRange window;
    for (int64_t seen = 0; seen <= total; seen += 1111) {
      const int64_t promised = planner.earliest_begin();
      while (planner.Next(seen, false, window)) EXPECT_GE(window.begin, promised);
    }
    const int64_t promised = planner.earliest_begin();
    while (planner.Next(total, true, window)) EXPECT_GE(window.begin, promised);
  }
}

TEST(WindowPlannerTest, GivenWindowsTakeThePlaceOfThePlan) {
  const std::vector<SampleRange> given = {{100, 400}, {200, 500}, {1000, 1300}};
  for (const int64_t step : {1, 7, 300, 5000}) {
    WindowPlanner planner(kWindow, kMaxUnheard, given);
    Ranges windows;
    SampleRange window;
    for (int64_t seen = 0; !planner.is_over(); seen += step) {
      const int64_t promised = planner.earliest_begin();
      while (planner.Next(seen, false, window)) {
        EXPECT_GE(window.begin, promised);
        EXPECT_LE(window.end, seen);
        windows.emplace_back(window.begin, window.end);
      }
    }
    EXPECT_EQ(windows, (Ranges{{100, 400}, {200, 500}, {1000, 1300}})) << "step " << step;
    EXPECT_FALSE(planner.Next(5000, true, window));
  }
}

TEST(WindowPlannerTest, GivenWindowsEndWithTheAudio) {
  WindowPlanner planner(kWindow, kMaxUnheard, {{100, 400}, {300, 600}, {500, 800}});
  SampleRange window;
  ASSERT_TRUE(planner.Next(450, true, window));
  EXPECT_EQ(window.end, 400);
  ASSERT_TRUE(planner.Next(450, true, window));
  EXPECT_EQ(window.begin, 300);
  EXPECT_EQ(window.end, 450);
  EXPECT_FALSE(planner.Next(450, true, window));
}

}  // namespace
}  // namespace veravox
