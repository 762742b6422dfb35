// SPDX-License-Identifier: Apache-2.0
#include "prepare/live_streams.h"

namespace veravox {

LiveStreams& LiveStreams::OfProcess() {
  static LiveStreams streams;
  return streams;
}

std::shared_ptr<LiveStreams::Stream> LiveStreams::Get(uint32_t id, const ModelInputSpec& spec, bool& is_new) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(id);
    is_new = found == streams_.end();
    if (!is_new) return found->second;
  }
  // Builds tables without the lock, which all other streams need.
  auto made = std::make_shared<Stream>(spec);
  const std::lock_guard lock(mutex_);
  return streams_.emplace(id, std::move(made)).first->second;
}

void LiveStreams::Remove(uint32_t id) {
  std::shared_ptr<Stream> removed;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  // Freed after the lock is released.
  removed = std::move(found->second);
  streams_.erase(found);
}

size_t LiveStreams::size() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

}  // namespace veravox
