// SPDX-License-Identifier: Apache-2.0
//
// What libav would offer in place of native/resample and native/features/lane_fft.h: quality and time of libswresample,
// sizes and time of av_tx. One thread, the fastest of many runs. After `npm run setup`:
//
//   g++ -O3 -std=c++20 -Inative bench/libav_comparison.cc -o build/libav_comparison \
//     build/addon/libveravox_stages.a \
//     $(pkg-config --cflags --libs libswresample libavcodec libavformat libavutil) && \
//   build/libav_comparison | tee bench/results/libav-comparison.txt
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "features/lane_fft.h"
#include "resample/resampler.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/tx.h>
#include <libswresample/swresample.h>
}

using Samples = std::vector<float>;
using Convert = std::function<Samples(const Samples&)>;

constexpr int kOutputHz = 16000;
constexpr int kSeconds = 5;

double FastestMs(const std::function<void()>& work) {
  double fastest_ms = 1e9;
  for (int run = 0; run < 40; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    fastest_ms = std::min(fastest_ms, took.count());
  }
  return fastest_ms;
}

Samples Tone(double frequency_hz, int rate_hz) {
  Samples samples(static_cast<size_t>(kSeconds) * rate_hz);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * frequency_hz / rate_hz * i));
  }
  return samples;
}

// What comes out, beside what went in; the ends, where the tone is switched on and off, do not count.
double LevelDb(const Samples& samples) {
  double sum = 0;
  const size_t edge = samples.size() / 10;
  for (size_t i = edge; i < samples.size() - edge; ++i) sum += static_cast<double>(samples[i]) * samples[i];
  return 10 * std::log10(sum / (samples.size() - 2 * edge) / 0.125 + 1e-20);
}

void Report(const char* name, int rate_hz, const Convert& convert, const Convert& timed) {
  double ripple_db = 0;
  for (double hz = 100; hz <= 7200; hz += 355) {
    ripple_db = std::max(ripple_db, std::abs(LevelDb(convert(Tone(hz, rate_hz)))));
  }
  double alias_db = -200;
  for (double hz = 8000; hz < std::min(0.5 * rate_hz, 12000.0); hz += 199) {
    alias_db = std::max(alias_db, LevelDb(convert(Tone(hz, rate_hz))));
  }
  const Samples input = Tone(1000, rate_hz);
  const double ms = FastestMs([&] { timed(input); });
  std::printf("%-34s %6d Hz  ripple to 7.2 kHz %7.4f dB  from 8 kHz on %7.1f dB  %6.3f ms\n", name, rate_hz,
              ripple_db, alias_db, ms);
}

// Whole streams for their quality; their start costs more than is fair, so that a stream that goes on is timed.
struct Libswresample {
  Convert whole_stream;
  Convert going_on;
};

Libswresample MakeLibswresample(int rate_hz, const std::vector<std::pair<const char*, const char*>>& options) {
  AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
  SwrContext* swr = nullptr;
  constexpr AVSampleFormat kFormat = AV_SAMPLE_FMT_FLT;
  swr_alloc_set_opts2(&swr, &mono, kFormat, kOutputHz, &mono, kFormat, rate_hz, 0, nullptr);
  for (const auto& [name, value] : options) av_opt_set(swr, name, value, 0);
  const auto convert = [swr](const Samples& input, bool whole) {
    if (whole) swr_init(swr);
    Samples output(static_cast<size_t>(kSeconds) * kOutputHz + 4096);
    const auto* in = reinterpret_cast<const uint8_t*>(input.data());
    auto* out = reinterpret_cast<uint8_t*>(output.data());
    const int capacity = static_cast<int>(output.size());
    int count = swr_convert(swr, &out, capacity, &in, static_cast<int>(input.size()));
    if (whole) {
      out = reinterpret_cast<uint8_t*>(output.data() + count);
      count += swr_convert(swr, &out, capacity - count, nullptr, 0);
    }
    output.resize(static_cast<size_t>(count));
    return output;
  };
  return {[=](const Samples& input) { return convert(input, true); },
          [=](const Samples& input) { return convert(input, false); }};
}

constexpr int kTransforms = 512;

VERAVOX_TARGET_AVX2 void Transform8(const veravox::LaneFftPlan& plan, veravox::LaneComplex<8>* x,
                                    veravox::LaneComplex<8>* scratch) {
  veravox::TransformLanes<8>(plan, x, scratch);
}

void ReportTransform(int size) {
  const veravox::LaneFftPlan plan(size);
  std::vector<veravox::LaneComplex<8>> x(size);
  std::vector<veravox::LaneComplex<8>> scratch(plan.largest_radix);
  const double own_ms = FastestMs([&] {
    for (int i = 0; i < kTransforms; i += 8) Transform8(plan, x.data(), scratch.data());
  });
  AVTXContext* context = nullptr;
  av_tx_fn transform = nullptr;
  const float scale = 1;
  const int failure = av_tx_init(&context, &transform, AV_TX_FLOAT_FFT, 0, size, &scale, 0);
  std::printf("complex FFT of %4d: lane_fft %6.3f us", size, 1000 * own_ms / kTransforms);
  if (failure != 0) {
    std::printf("  av_tx: not offered\n");
    return;
  }
  auto* in = static_cast<AVComplexFloat*>(av_calloc(size, sizeof(AVComplexFloat)));
  auto* out = static_cast<AVComplexFloat*>(av_calloc(size, sizeof(AVComplexFloat)));
  const double tx_ms = FastestMs([&] {
    for (int i = 0; i < kTransforms; ++i) transform(context, out, in, sizeof(AVComplexFloat));
  });
  std::printf("  av_tx %6.3f us\n", 1000 * tx_ms / kTransforms);
  av_free(in);
  av_free(out);
  av_tx_uninit(&context);
}

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("libswresample %u.%u, libavutil %u.%u, %d s per conversion\n", LIBSWRESAMPLE_VERSION_MAJOR,
              LIBSWRESAMPLE_VERSION_MINOR, LIBAVUTIL_VERSION_MAJOR, LIBAVUTIL_VERSION_MINOR, kSeconds);
  for (const int rate_hz : {44100, 48000, 24000}) {
    veravox::Resampler own(rate_hz, kOutputHz);
    const Convert own_convert = [&](const Samples& input) {
      Samples output;
      own.Push(input, output);
      own.Finish(output);
      return output;
    };
    Report("native/resample", rate_hz, own_convert, own_convert);
    const auto plain = MakeLibswresample(rate_hz, {});
    Report("libswresample, as it comes", rate_hz, plain.whole_stream, plain.going_on);
    // The cheapest found that is as flat and as steep.
    const auto steep = MakeLibswresample(rate_hz, {{"filter_type", "kaiser"},
                                                   {"kaiser_beta", "11"},
                                                   {"filter_size", "96"},
                                                   {"cutoff", "0.95"}});
    Report("libswresample, as steep", rate_hz, steep.whole_stream, steep.going_on);
  }
  for (const int size : {256, 200, 512}) ReportTransform(size);
}
