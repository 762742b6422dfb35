// SPDX-License-Identifier: Apache-2.0
#include "decode/mono_mixer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

extern "C" {
#include <libswresample/swresample.h>
}

namespace veravox {
namespace {

static_assert(std::endian::native == std::endian::little);

// Far beyond full scale, and small enough to be squared and summed later on.
constexpr float kLargestSample = 1e6f;

float NumberOrZero(float value) {
  return std::isfinite(value) ? std::clamp(value, -kLargestSample, kLargestSample) : 0.0f;
}

// Length of the turn from one sign to the other.
constexpr size_t kTurnSamples = 64;

// Readers for the samples of each format, which may lie on odd addresses.
template <typename T, int kFullScaleBits>
struct Plain {
  static constexpr size_t kBytes = sizeof(T);
  static constexpr double kFullScale = static_cast<double>(uint64_t{1} << kFullScaleBits);
  static float Read(const uint8_t* in) {
    T sample;
    std::memcpy(&sample, in, sizeof sample);
    return static_cast<float>(sample);
  }
};
struct Float64 : Plain<double, 0> {
  static float Read(const uint8_t* in) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    double sample;
    std::memcpy(&sample, in, sizeof sample);
    return std::isfinite(sample) ? static_cast<float>(std::clamp(sample, -kLargest, kLargest)) : 0.0f;
  }
};
struct Unsigned8 : Plain<uint8_t, 7> {
  static float Read(const uint8_t* in) { return static_cast<float>(*in) - 128.0f; }
};
struct Packed24 : Plain<int32_t, 31> {
  static constexpr size_t kBytes = 3;
  static float Read(const uint8_t* in) {
    const uint32_t sample = uint32_t{in[0]} << 8 | uint32_t{in[1]} << 16 | uint32_t{in[2]} << 24;
    return static_cast<float>(static_cast<int32_t>(sample));
  }
};

// Calls `use` with a reader of the format.
template <typename Use>
void WithReader(SampleFormat format, Use use) {
  switch (format) {
    case SampleFormat::kU8:
      return use(Unsigned8{});
    case SampleFormat::kS16:
      return use(Plain<int16_t, 15>{});
    case SampleFormat::kS24:
      return use(Packed24{});
    case SampleFormat::kS32:
      return use(Plain<int32_t, 31>{});
    case SampleFormat::kF32:
      return use(Plain<float, 0>{});
    case SampleFormat::kF64:
      return use(Float64{});
  }
}

// libswresample also leaves out places above the listeners, which may hold a voice, unlike low frequencies.
void AddLeftOut(const AVChannelLayout& layout, std::vector<double>& weights) {
  const double most = *std::max_element(weights.begin(), weights.end());
  for (size_t i = 0; i < weights.size(); ++i) {
    const AVChannel place = av_channel_layout_channel_from_index(&layout, static_cast<unsigned>(i));
    const bool is_low = place == AV_CHAN_LOW_FREQUENCY || place == AV_CHAN_LOW_FREQUENCY_2;
    if (weights[i] == 0.0 && !is_low) weights[i] = most * M_SQRT1_2;
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum <= 1.0) return;
  for (double& weight : weights) weight /= sum;
}

std::vector<double> DownMixWeights(const AVChannelLayout& layout) {
  // libswresample scales a matrix of this size for any layout.
  constexpr size_t kMatrixSide = 64;
  const auto channels = static_cast<size_t>(layout.nb_channels);
  const std::vector<double> equal(channels, 1.0 / static_cast<double>(channels));
  if (channels == 1 || channels > kMatrixSide || layout.order == AV_CHANNEL_ORDER_UNSPEC) return equal;

  const AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
  std::vector<double> weights(kMatrixSide * kMatrixSide);
  const int error = swr_build_matrix2(&layout, &mono, M_SQRT1_2, M_SQRT1_2, /*lfe_mix_level=*/0.0,
                                      /*rematrix_maxval=*/1.0, /*rematrix_volume=*/1.0, weights.data(),
                                      kMatrixSide, AV_MATRIX_ENCODING_NONE, nullptr);
  weights.resize(channels);
  // Channels without a known place count alike, and so do all channels if every one would be left out.
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (error < 0 || sum == 0.0) return equal;
  AddLeftOut(layout, weights);
  return weights;
}

// kChannels > 0 unrolls the inner loop.
template <typename Reader, int kChannels>
void Interleaved(const uint8_t* in, std::span<const float> weights, std::span<float> out) {
  const size_t channels = kChannels > 0 ? kChannels : weights.size();
  for (size_t i = 0; i < out.size(); ++i) {
    float sum = 0.0f;
    for (size_t c = 0; c < channels; ++c) {
      sum += weights[c] * Reader::Read(in + (i * channels + c) * Reader::kBytes);
    }
    out[i] = NumberOrZero(sum);
  }
}

// Takes one of `channels` channels, unmixed.
template <typename Reader>
void Single(const uint8_t* in, size_t channels, float weight, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = NumberOrZero(weight * Reader::Read(in + i * channels * Reader::kBytes));
  }
}

}  // namespace

std::optional<size_t> MonoMixer::only_channel() const {
  if (!channel_ || input_.channels <= 1) return {};
  return static_cast<size_t>(std::min(*channel_, input_.channels - 1));
}

void MonoMixer::SetInput(SampleFormat format, const AVChannelLayout& layout) {
  const bool native = layout.order == AV_CHANNEL_ORDER_NATIVE;
  const Input input{format, layout.order, layout.nb_channels, native ? layout.u.mask : 0};
  // The channels of a custom layout are not part of `input`.
  if (input == input_ && layout.order != AV_CHANNEL_ORDER_CUSTOM) return;

  double full_scale = 1.0;
  WithReader(format, [&](auto reader) { full_scale = decltype(reader)::kFullScale; });
  const std::vector<float> old_weights = std::exchange(weights_, {});
  for (const double weight : DownMixWeights(layout))
    weights_.push_back(static_cast<float>(weight / full_scale));
  input_ = input;
  if (weights_ == old_weights) return;
  signed_weights_.resize(weights_.size());
  polarity_.Reset(weights_.size());
}

template <typename Read, typename Mix>
void MonoMixer::MixRuns(std::span<float> out, Read read, Mix mix) {
  const auto mix_with = [&](size_t first, std::span<const float> signs, std::span<float> run) {
    std::transform(weights_.begin(), weights_.end(), signs.begin(), signed_weights_.begin(),
                   std::multiplies<>());
    mix(first, std::span<const float>(signed_weights_), run);
  };
  for (size_t first = 0; first < out.size();) {
    const auto run = out.subspan(first, std::min(polarity_.run_left(), out.size() - first));
    polarity_.Hear(run.size(), [&](size_t channel, size_t i) {
      return NumberOrZero(weights_[channel] * read(channel, first + i));
    });
    mix_with(first, polarity_.signs(), run);
    if (!std::ranges::equal(polarity_.signs_before(), polarity_.signs())) {
      // An abrupt change of sign would be heard as a click.
      const size_t turning = std::min(run.size(), kTurnSamples);
      turned_.resize(turning);
      mix_with(first, polarity_.signs_before(), turned_);
      for (size_t i = 0; i < turning; ++i) {
        const float share = static_cast<float>(i) / static_cast<float>(turning);
        run[i] = share * run[i] + (1.0f - share) * turned_[i];
      }
    }
    first += run.size();
  }
}

void MonoMixer::MixInterleaved(const uint8_t* in, std::span<float> out) {
  WithReader(input_.format, [&]<typename Reader>(Reader) {
    const size_t channels = weights_.size();
    if (const auto only = only_channel()) {
      return Single<Reader>(in + *only * Reader::kBytes, channels,
                            static_cast<float>(1.0 / Reader::kFullScale), out);
    }
    if (channels == 1) return Interleaved<Reader, 1>(in, weights_, out);
    const auto sample_at = [&](size_t channel, size_t i) {
      return in + (i * channels + channel) * Reader::kBytes;
    };
    MixRuns(
        out, [&](size_t channel, size_t i) { return Reader::Read(sample_at(channel, i)); },
        [&](size_t first, std::span<const float> weights, std::span<float> run) {
          const uint8_t* samples = sample_at(0, first);
          if (channels == 2) return Interleaved<Reader, 2>(samples, weights, run);
          Interleaved<Reader, 0>(samples, weights, run);
        });
  });
}

void MonoMixer::MixPlanar(const uint8_t* const* planes, size_t first, std::span<float> out) {
  WithReader(input_.format, [&]<typename Reader>(Reader) {
    const auto sample_at = [&](size_t channel, size_t i) {
      return planes[channel] + (first + i) * Reader::kBytes;
    };
    if (const auto only = only_channel()) {
      return Single<Reader>(sample_at(*only, 0), 1, static_cast<float>(1.0 / Reader::kFullScale), out);
    }
    const auto mix = [&](size_t begin, std::span<const float> weights, std::span<float> run) {
      std::fill(run.begin(), run.end(), 0.0f);
      for (size_t c = 0; c < weights.size(); ++c) {
        const uint8_t* in = sample_at(c, begin);
        for (size_t i = 0; i < run.size(); ++i) run[i] += weights[c] * Reader::Read(in + i * Reader::kBytes);
      }
      for (float& sample : run) sample = NumberOrZero(sample);
    };
    if (weights_.size() == 1) return mix(0, weights_, out);
    MixRuns(
        out, [&](size_t channel, size_t i) { return Reader::Read(sample_at(channel, i)); }, mix);
  });
}

}  // namespace veravox
