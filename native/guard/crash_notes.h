// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace veravox {

// Notes which input each thread works on, in a file that survives the process, and marks the input whose
// thread died of a signal. The parent process can then tell which input to refuse.
//
// The file: a header of one slot's size that begins with kCrashNotesMagic, then `slots` CrashNote.
inline constexpr std::array<char, 8> kCrashNotesMagic = {'v', 'x', 'n', 'o', 't', 'e', 's', '1'};

using InputDigest = std::array<uint8_t, 32>;

struct CrashNote {
  enum State : uint32_t { kFree = 0, kWorking = 1, kDied = 2 };

  uint32_t state;
  int32_t thread_id;
  int32_t signal;
  uint32_t reserved;
  InputDigest digest;
  std::array<uint8_t, 16> padding;
};
static_assert(sizeof(CrashNote) == 64);

// Creates the file and handles this process's crash signals, permanently. Once per process; a second call
// changes nothing. Earlier handlers are called afterwards. Throws std::system_error if the file cannot be
// created.
void OpenCrashNotes(const std::string& path, size_t slots);

// Notes that this thread works on an input. No effect before OpenCrashNotes, or if every slot is taken.
void NoteInput(const InputDigest& digest);

// Clears the note: the input did no harm.
void ForgetInput();

}  // namespace veravox
