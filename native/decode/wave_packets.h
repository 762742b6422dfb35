// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "decode/file_packets.h"
#include "decode/wave_file.h"

namespace veravox {

// The packets of a WAV file whose codec needs a decoder: all parts of its first format, behind a corrected
// header.
class WavePackets final : public FilePackets {
 public:
  // `file` has parts. `source` and `stop` are used in place and outlive this object. Throws StageError.
  WavePackets(ByteSource& source, const WaveFile& file, const StopSignal& stop);

  std::vector<Unheard> unheard() const override { return file_.unheard(); }
  std::optional<StatedLength> stated_length() const override { return file_.stated_length(); }

 private:
  const WaveFile file_;
};

}  // namespace veravox
