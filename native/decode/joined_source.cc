// SPDX-License-Identifier: Apache-2.0
#include "decode/joined_source.h"

#include <algorithm>
#include <utility>

namespace veravox {
namespace {

// Whether the file is to blame, rather than a limit or a stop.
bool IsUnreadable(const StageError& error) {
  return error.code() == ErrorCode::kUndecodable || error.code() == ErrorCode::kUnsupportedFormat ||
         error.code() == ErrorCode::kNoAudioStream;
}

}  // namespace

JoinedSource::JoinedSource(ByteSource& source, std::unique_ptr<AudioSource> first, Open open)
    : source_(source),
      open_(std::move(open)),
      current_(std::move(first)),
      container_name_(current_->container_name()),
      codec_name_(current_->codec_name()) {}

bool JoinedSource::Next(MonoBlock& block) {
  while (!ended_) {
    try {
      if (current_->Next(block)) {
        time_line_.Append(static_cast<int64_t>(block.samples.size()), block.sample_rate_hz);
        return true;
      }
      OpenNext();
    } catch (const StageError& error) {
      const bool is_left_out = begin_ > 0 && IsUnreadable(error);
      if (!is_left_out) throw;
      const auto bytes = static_cast<int64_t>(source_.size() - begin_);
      unheard_before_.push_back({bytes, time_line_.position_s(), "another file that cannot be read"});
      ended_ = true;
    }
  }
  return false;
}

// If it fails, the audio heard so far still counts.
void JoinedSource::OpenNext() {
  const std::optional<uint64_t> end = current_->file_end();
  ended_ = !end;
  if (!end) return;
  AddCurrentTo(unheard_before_);
  for (Unheard& part : unheard_before_) part.until_s = std::min(part.until_s, time_line_.position_s());
  stated_before_ = stated_length();
  damaged_before_ = damaged_packets();
  start_s_ = time_line_.position_s();
  current_.reset();
  begin_ += *end;
  tail_.emplace(source_, begin_);
  current_ = open_(*tail_);
}

std::vector<Unheard> JoinedSource::unheard() const {
  std::vector<Unheard> all = unheard_before_;
  if (current_) AddCurrentTo(all);
  return all;
}

void JoinedSource::AddCurrentTo(std::vector<Unheard>& list) const {
  for (Unheard& part : current_->unheard()) {
    part.at_s += start_s_;
    part.until_s += start_s_;
    AddUnheard(list, std::move(part));
  }
}

std::optional<StatedLength> JoinedSource::stated_length() const {
  auto length = current_ ? current_->stated_length() : std::nullopt;
  if (!length) return stated_before_;
  if (length->stated_s) *length->stated_s += start_s_;
  length->found_s += start_s_;
  if (!stated_before_) return length;
  // Without both numbers, there is no sum.
  if (!length->stated_s || !stated_before_->stated_s) return stated_before_;
  *length->stated_s += *stated_before_->stated_s - stated_before_->found_s;
  return length;
}

double JoinedSource::progress() const {
  if (!current_) return 1.0;
  const double rest = static_cast<double>(source_.size() - begin_) / static_cast<double>(source_.size());
  return 1.0 - rest * (1.0 - current_->progress());
}

}  // namespace veravox
