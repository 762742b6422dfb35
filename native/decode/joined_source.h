// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/audio_source.h"
#include "decode/time_line.h"

namespace veravox {

// Plays joined files as one: players stop at the end of the first, but somebody may hear the rest.
class JoinedSource final : public AudioSource {
 public:
  using Open = std::function<std::unique_ptr<AudioSource>(ByteSource&)>;

  // `source` is used in place and outlives this object; `first` was opened with it. `open` opens a file as a
  // source and throws StageError.
  JoinedSource(ByteSource& source, std::unique_ptr<AudioSource> first, Open open);

  bool Next(MonoBlock& block) override;
  int channels() const override { return current_ ? current_->channels() : 0; }
  bool has_inverted_channels() const override { return current_ && current_->has_inverted_channels(); }
  int64_t damaged_packets() const override {
    return damaged_before_ + (current_ ? current_->damaged_packets() : 0);
  }
  std::vector<Unheard> unheard() const override;
  // Counts what is missing up to the last file that lacks its end.
  std::optional<StatedLength> stated_length() const override;
  double progress() const override;
  std::string container_name() const override { return container_name_; }
  std::string codec_name() const override { return current_ ? current_->codec_name() : codec_name_; }

 private:
  void OpenNext();
  void AddCurrentTo(std::vector<Unheard>& list) const;

  ByteSource& source_;
  const Open open_;
  uint64_t begin_ = 0;                    // of the current file
  std::optional<TailSource> tail_;        // bytes from begin_ on; absent in the first
  std::unique_ptr<AudioSource> current_;  // absent if one failed to open
  const std::string container_name_;
  const std::string codec_name_;
  TimeLine time_line_;
  double start_s_ = 0.0;  // of the current file
  bool ended_ = false;
  int64_t damaged_before_ = 0;
  std::vector<Unheard> unheard_before_;
  std::optional<StatedLength> stated_before_;
};

}  // namespace veravox
