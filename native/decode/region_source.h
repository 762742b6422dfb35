// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "decode/audio_source.h"

namespace veravox {

// The region of another source. Its first and last samples are the nearest to the region's times, at the rate
// of the file, so the result equals that of a file with only these samples. If the source cannot seek to the
// start, everything before is decoded and dropped: most codecs depend on what they have decoded, so only this
// gives the same samples. Nothing is read after the end.
class RegionSource final : public AudioSource {
 public:
  // The region's end may lie this much after the end of the audio, since durations are rounded.
  static constexpr double kEndToleranceS = 0.01;

  // Start and end are not negative, and the end is not before the start.
  RegionSource(std::unique_ptr<AudioSource> source, const DecodeRegion& region);

  // Throws kOutOfRange if the audio ends before the region.
  bool Next(MonoBlock& block) override;
  void Skip(int64_t samples) override;
  int64_t damaged_packets() const override { return source_->damaged_packets() - damaged_before_; }
  // Only inside the region.
  std::vector<Unheard> unheard() const override;
  // Only if the region lasts until the end of the audio.
  std::optional<StatedLength> stated_length() const override {
    return ended_ ? source_->stated_length() : std::nullopt;
  }
  bool has_inverted_channels() const override { return source_->has_inverted_channels(); }
  double progress() const override { return source_->progress(); }
  int channels() const override { return source_->channels(); }
  std::string container_name() const override { return source_->container_name(); }
  std::string codec_name() const override { return source_->codec_name(); }

 private:
  double position_s() const { return position_.rate_hz > 0 ? SecondsBefore(position_.samples) : earlier_s_; }
  double SecondsBefore(int64_t samples) const {
    return earlier_s_ + static_cast<double>(samples) / position_.rate_hz;
  }
  MonoBlock Inside(const MonoBlock& block);
  void RequireEnded() const;

  const std::unique_ptr<AudioSource> source_;
  const DecodeRegion region_;
  // Samples that the source has passed at the present rate, and the time before them.
  AudioPosition position_;
  double earlier_s_ = 0.0;
  bool begun_ = false;
  bool ended_ = false;  // the source has ended
  int64_t damaged_before_ = 0;
};

}  // namespace veravox
