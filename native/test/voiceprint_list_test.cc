// SPDX-License-Identifier: Apache-2.0
// Lists of voiceprints: refusals, reading, and ranking.
#include "voiceprints/voiceprint_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "mutator.h"
#include "voiceprints/cosine.h"

namespace veravox {
namespace {

using Vector = std::vector<float>;

Vector Random(uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Vector vector(kVoiceprintSize);
  for (float& value : vector) value = normal(engine);
  return vector;
}

std::string Numbers(const Vector& vector) {
  std::string text = "[";
  for (const float value : vector) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", static_cast<double>(value));
    text += (text.size() > 1 ? ", " : "") + std::string(number);
  }
  return text + "]";
}

std::string Base64(const Vector& vector, bool url) {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + std::string(url ? "-_" : "+/");
  std::vector<uint8_t> bytes(vector.size() * 4);
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  std::string text;
  uint32_t bits = 0;
  int held = 0;
  for (const uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) text += alphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) text += alphabet[bits << (6 - held) & 63];
  if (!url) text.append((4 - text.size() % 4) % 4, '=');
  return "\"" + text + "\"";
}

std::string Entry(const std::string& id, const std::string& vector) {
  return R"({"id": ")" + id + R"(", "voice_vector": )" + vector + "}";
}

std::vector<uint8_t> Bytes(const std::string& text) { return {text.begin(), text.end()}; }

struct Read {
  std::vector<std::string> ids;
  std::vector<Vector> vectors;
};

Read ReadAll(const std::string& text, int64_t most = 10) {
  const auto bytes = Bytes(text);
  VoiceprintReader reader(bytes, most);
  ListedVoiceprint voiceprint;
  Read read;
  while (reader.Next(voiceprint)) {
    read.ids.emplace_back(voiceprint.id);
    read.vectors.emplace_back(voiceprint.values.begin(), voiceprint.values.end());
  }
  return read;
}

std::string Refusal(const std::string& text, int64_t most = 10) {
  try {
    ReadAll(text, most);
    return "accepted";
  } catch (const VoiceprintListError& error) {
    return error.what();
  }
}

std::string With(const std::string& number) {
  std::string vector = "[";
  for (size_t i = 0; i < kVoiceprintSize; ++i)
    vector += (i > 0 ? "," : "") + (i == 3 ? number : std::string("1"));
  return vector + "]";
}

TEST(VoiceprintReaderTest, RefusesWhatIsNoList) {
  const std::string good = Entry("a", Numbers(Random(1)));
  EXPECT_EQ(Refusal(""), "no [ at its beginning");
  EXPECT_EQ(Refusal("{}"), "no [ at its beginning");
  EXPECT_EQ(Refusal("[]"), "an empty list");
  EXPECT_EQ(Refusal("[" + good), "entry 1: no ] or , after an entry");
  EXPECT_EQ(Refusal("[" + good + "] x"), "text after the list");
  EXPECT_EQ(Refusal("[" + good + ",]"), "entry 1: no { at its beginning");
  EXPECT_EQ(Refusal("[" + good + "," + good + "]", 1), "more than 1 entries");
  EXPECT_EQ(Refusal("[" + good + ",7]"), "entry 1: no { at its beginning");
}

TEST(VoiceprintReaderTest, RefusesWrongEntries) {
  const std::string vector = Numbers(Random(1));
  const auto entry = [](const std::string& members) { return Refusal("[{" + members + "}]"); };
  EXPECT_EQ(entry(""), "entry 0: no id");
  EXPECT_EQ(entry(R"("id":"a")"), "entry 0: no voice_vector");
  EXPECT_EQ(entry(R"("voice_vector":)" + vector), "entry 0: no id");
  EXPECT_EQ(entry(R"("id":"","voice_vector":)" + vector), "entry 0: an empty id");
  EXPECT_EQ(entry(R"("id":7,"voice_vector":)" + vector), "entry 0: no text where one was expected");
  EXPECT_EQ(entry(R"("id":"a","id":"b","voice_vector":)" + vector), "entry 0: two ids");
  EXPECT_EQ(entry(R"("id":"a","embedding":)" + vector + R"(,"voice_vector":)" + vector),
            "entry 0: two voice vectors");
  EXPECT_EQ(entry(R"("id":"a","voice_vector":7)"),
            "entry 0: a voice_vector that is neither a list nor a text");
  EXPECT_EQ(entry(R"("id":"a" "voice_vector":7)"), "entry 0: no } or , after a member");
  EXPECT_EQ(entry(R"("id":"a",)"), "entry 0: no text where one was expected");
  EXPECT_EQ(entry(R"("id":")" + std::string(513, 'a') + R"(","voice_vector":)" + vector),
            "entry 0: an id of more than 512 bytes");
  EXPECT_EQ(entry("\"id\":\"\xff\""), "entry 0: a text that is not UTF-8");
  EXPECT_EQ(entry("\"id\":\"\xed\xa0\x80\""), "entry 0: a text that is not UTF-8");
  EXPECT_EQ(entry("\"id\":\"a\nb\""), "entry 0: a control character in a text");
  EXPECT_EQ(entry(R"("id":"\q")"), "entry 0: an unknown escape in a text");
  EXPECT_EQ(entry(R"("id":"\u12g4")"), "entry 0: an unknown escape in a text");
  EXPECT_EQ(entry(R"("id":"a)"), "entry 0: a text without an end");
  EXPECT_EQ(entry(R"("x":,"id":"a")"), "entry 0: a member without a value");
  EXPECT_EQ(entry(R"("x":)" + std::string(17, '[')), "entry 0: a member that is nested too deep");
}

TEST(VoiceprintReaderTest, RefusesWrongVectors) {
  const auto vector = [](const std::string& text) { return Refusal("[" + Entry("a", text) + "]"); };
  EXPECT_EQ(vector("[1,2]"), "entry 0: 2 numbers instead of 256");
  EXPECT_EQ(vector("[]"), "entry 0: 0 numbers instead of 256");
  std::string more = With("1");
  more.back() = ',';
  EXPECT_EQ(vector(more + "1]"), "entry 0: more than 256 numbers");
  for (const char* number : {"nan", "inf", "-Infinity", "\"1\"", "null", "+1", ".5", "-", "[1]", ""}) {
    EXPECT_EQ(vector(With(number)), "entry 0: number 3 is not one") << number;
  }
  EXPECT_EQ(vector(With("01")), "entry 0: number 3 begins with a zero");
  for (const char* number : {"1e39", "-1e400", "1e99999999"}) {
    EXPECT_EQ(vector(With(number)), "entry 0: number 3 is not finite as float32") << number;
  }
  EXPECT_EQ(vector(With("1 2")), "entry 0: no ] or , after a number");
  EXPECT_EQ(vector(Numbers(Vector(kVoiceprintSize, 0.0f))), "entry 0: 256 zeros");
  EXPECT_EQ(vector("\"\""), "entry 0: base64 of 0 bytes instead of 1024");
  EXPECT_EQ(vector("\"AA$A\""), "entry 0: a voice_vector that is not base64");
  std::string text = Base64(Random(1), true);
  EXPECT_EQ(vector(text.substr(0, text.size() - 2) + "\""), "entry 0: base64 of 1023 bytes instead of 1024");
  EXPECT_EQ(vector("\"AAAA" + text.substr(1)), "entry 0: base64 of more than 1024 bytes");
  EXPECT_EQ(vector(Base64(Vector(kVoiceprintSize, NAN), false)),
            "entry 0: number 0 is not finite as float32");
}

TEST(VoiceprintReaderTest, EveryCutIsRefused) {
  const std::string text =
      "[" + Entry("a", Numbers(Random(1))) + "," + Entry("b", Base64(Random(2), false)) + "]";
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(Refusal(text.substr(0, length)), "accepted") << length;
  }
}

TEST(VoiceprintReaderTest, ReadsEveryForm) {
  const Vector first = Random(1);
  std::string escaped = Base64(first, false);
  for (size_t at = 0; (at = escaped.find('/', at)) != std::string::npos; at += 2) escaped.insert(at, "\\");
  const std::string text = " [\n" + Entry("a", Numbers(first)) + " , " + Entry("b", Base64(first, false)) +
                           "," + Entry("c\\u00e9 \xc3\xa9", Base64(first, true)) + "," + Entry("d", escaped) +
                           R"(,{"model":{"x":[1,"]",null]},"embedding":)" + Numbers(first) +
                           R"(,"id":"e","checked":true}] )" + "\n";
  const Read read = ReadAll(text);
  EXPECT_EQ(read.ids,
            (std::vector<std::string>{"\"a\"", "\"b\"", "\"c\\u00e9 \xc3\xa9\"", "\"d\"", "\"e\""}));
  for (const Vector& vector : read.vectors) EXPECT_EQ(vector, first);
}

TEST(VoiceprintReaderTest, ReadsExtremeNumbers) {
  const Read read = ReadAll("[" + Entry("a", With("-1.5E-3")) + "," + Entry("b", With("1e-400")) + "," +
                            Entry("c", With("3.4028234e38")) + "]");
  EXPECT_EQ(read.vectors[0][3], -1.5e-3f);
  EXPECT_EQ(read.vectors[1][3], 0.0f);
  EXPECT_EQ(read.vectors[2][3], 3.4028234e38f);
}

TEST(VoiceprintListTest, RanksByCosineWhateverTheLength) {
  std::string text = "[";
  std::vector<double> expected;
  Vector sample = Random(1000);
  double length = 0.0;
  for (const float value : sample) length += double{value} * value;
  std::vector<double> voiceprint;
  for (const float value : sample) voiceprint.push_back(value / std::sqrt(length));
  for (uint32_t i = 0; i < 100; ++i) {
    Vector vector = Random(i);
    const float share = static_cast<float>(i * 37 % 100) / 20.0f;
    for (size_t k = 0; k < vector.size(); ++k)
      vector[k] = (vector[k] + share * sample[k]) * static_cast<float>(i + 1);
    double with = 0.0;
    double own = 0.0;
    for (size_t k = 0; k < vector.size(); ++k) {
      with += vector[k] * voiceprint[k];
      own += double{vector[k]} * vector[k];
    }
    expected.push_back(with / std::sqrt(own));
    text += (i > 0 ? "," : "") +
            Entry("v" + std::to_string(i), i % 2 == 0 ? Numbers(vector) : Base64(vector, true));
  }
  const auto bytes = Bytes(text + "]");
  const VoiceprintRanking ranking = RankVoiceprints(bytes, {}, voiceprint, 7);
  ASSERT_EQ(ranking.cosines.size(), 100u);
  for (size_t i = 0; i < 100; ++i) EXPECT_NEAR(ranking.cosines[i], expected[i], 1e-12) << i;
  std::vector<int64_t> order(100);
  for (size_t i = 0; i < 100; ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return expected[static_cast<size_t>(a)] > expected[static_cast<size_t>(b)];
  });
  ASSERT_EQ(ranking.best.size(), 7u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(ranking.best[i].index, order[i]);
    EXPECT_EQ(ranking.best[i].id, "\"v" + std::to_string(order[i]) + "\"");
  }
  EXPECT_EQ(RankVoiceprints(bytes, {}, voiceprint, 1000).best.size(), 100u);
}

TEST(VoiceprintListTest, OfEqualOnesTheFirstIsFirst) {
  const std::string same = Numbers(Random(1));
  const auto bytes = Bytes("[" + Entry("a", same) + "," + Entry("b", same) + "," + Entry("c", same) + "]");
  std::vector<double> voiceprint(kVoiceprintSize, 0.0625);
  const auto best = RankVoiceprints(bytes, {}, voiceprint, 2).best;
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].id, "\"a\"");
  EXPECT_EQ(best[1].id, "\"b\"");
}

TEST(VoiceprintListTest, FindsTheFirstForeignOneAfterReadingAll) {
  std::vector<double> excluded(kVoiceprintSize, 0.0);
  excluded[0] = 1.0;
  Vector own = Random(1);
  own[0] = 0.0f;
  Vector foreign = own;
  foreign[0] = 5.0f;
  const std::string list = "[" + Entry("a", Numbers(own)) + "," + Entry("b", Numbers(foreign)) + ",";
  EXPECT_EQ(FindForeignVoiceprint(Bytes(list + Entry("c", Numbers(foreign)) + "]"), {}, excluded, 0.015), 1);
  EXPECT_EQ(FindForeignVoiceprint(Bytes("[" + Entry("a", Numbers(own)) + "]"), {}, excluded, 0.015), -1);
  EXPECT_THROW(FindForeignVoiceprint(Bytes(list + "]"), {}, excluded, 0.015), VoiceprintListError);
}

// Input from a broken client or an attacker is read within its memory, then refused or ranked.
TEST(VoiceprintListTest, SpoiltListsAreRefusedOrRanked) {
  const Vector first = Random(1);
  const std::string list = "[" + Entry("a", Numbers(first)) + "," + Entry("b", Base64(Random(2), false)) +
                           R"(,{"model":{"x":[1,"]",null]},"id":"\u00e9","embedding":)" +
                           Base64(Random(3), true) + "}]";
  const std::vector<test::Mutator::Bytes> originals = {Bytes(list),
                                                       Bytes("[" + Entry("a", Base64(first, true)) + "]"),
                                                       Bytes("[" + Entry("c", With("1e38")) + "]")};
  test::Mutator mutator(originals, 1);
  const std::vector<double> excluded(kVoiceprintSize, 0.0625);
  int64_t ranked = 0;
  int64_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    test::Mutator::Bytes bytes = mutator.Next();
    // So that a read beyond the end is caught.
    bytes.shrink_to_fit();
    try {
      const int64_t foreign = FindForeignVoiceprint(bytes, {100}, excluded, 0.015);
      const VoiceprintRanking ranking = RankVoiceprints(bytes, {100}, excluded, 3);
      const auto entries = static_cast<int64_t>(ranking.cosines.size());
      ASSERT_LT(foreign, entries);
      ASSERT_EQ(ranking.best.size(), std::min<size_t>(3, ranking.cosines.size()));
      for (const double cosine : ranking.cosines) ASSERT_LE(std::abs(cosine), 1.0 + 1e-9);
      for (const RankedVoiceprint& best : ranking.best) ASSERT_LT(best.index, entries);
      ++ranked;
    } catch (const VoiceprintListError&) {
      ++refused;
    }
  }
  EXPECT_GT(ranked, 100);
  EXPECT_GT(refused, 1000);
}

TEST(CosineTest, EveryLevelGivesTheSame) {
  const Vector vector = Random(1);
  std::vector<double> other;
  for (const float value : Random(2)) other.push_back(value);
  const DotProducts baseline = Multiply(vector, other, SimdLevel::kBaseline);
  for (const SimdLevel level : {SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > BestSimdLevel()) continue;
    const DotProducts products = Multiply(vector, other, level);
    EXPECT_NEAR(products.with, baseline.with, 1e-10);
    EXPECT_NEAR(products.own, baseline.own, 1e-10);
  }
}

}  // namespace
}  // namespace veravox
