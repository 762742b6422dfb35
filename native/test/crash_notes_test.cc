// SPDX-License-Identifier: Apache-2.0
#include "guard/crash_notes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace veravox {
namespace {

constexpr size_t kSlots = 4;

struct Death {
  int signal = 0;
  std::vector<CrashNote> notes;
};

InputDigest DigestOf(uint8_t value) {
  InputDigest digest;
  digest.fill(value);
  return digest;
}

// Runs `deed` in a separate process with notes, and reads what it leaves behind.
Death DieBy(const std::function<void()>& deed) {
  const std::string path = testing::TempDir() + "crash-notes-" + std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    // Disables the sanitizers' handlers, whose reports are not wanted here.
    for (const int deadly : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) signal(deadly, SIG_DFL);
    OpenCrashNotes(path, kSlots);
    deed();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::ifstream file(path, std::ios::binary);
  std::array<char, sizeof(CrashNote)> header;
  file.read(header.data(), header.size());
  EXPECT_EQ(std::memcmp(header.data(), kCrashNotesMagic.data(), kCrashNotesMagic.size()), 0);
  Death death{WIFSIGNALED(status) ? WTERMSIG(status) : 0, std::vector<CrashNote>(kSlots)};
  file.read(reinterpret_cast<char*>(death.notes.data()), kSlots * sizeof(CrashNote));
  EXPECT_TRUE(file.good());
  unlink(path.c_str());
  return death;
}

void ExpectBlamed(const Death& death, int signal, uint8_t digest) {
  EXPECT_EQ(death.signal, signal);
  EXPECT_EQ(death.notes[0].state, CrashNote::kDied);
  EXPECT_EQ(death.notes[0].signal, signal);
  EXPECT_EQ(death.notes[0].digest, DigestOf(digest));
}

__attribute__((no_sanitize("address", "undefined"))) int Overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : Overflow(depth + 1) + frame[0];
}

TEST(CrashNotes, BlameTheInputOfTheThreadThatDied) {
  ExpectBlamed(DieBy([] {
                 NoteInput(DigestOf(7));
                 raise(SIGSEGV);
               }),
               SIGSEGV, 7);
}

TEST(CrashNotes, BlameAnInputThatAborts) {
  ExpectBlamed(DieBy([] {
                 NoteInput(DigestOf(8));
                 std::abort();
               }),
               SIGABRT, 8);
}

TEST(CrashNotes, BlameAnInputThatOverflowsTheStack) {
  ExpectBlamed(DieBy([] {
                 NoteInput(DigestOf(9));
                 Overflow(0);
               }),
               SIGSEGV, 9);
}

TEST(CrashNotes, BlameNoInputOfAnotherThread) {
  const Death death = DieBy([] {
    std::thread other([] {
      NoteInput(DigestOf(1));
      raise(SIGSEGV);
    });
    NoteInput(DigestOf(2));
    other.join();
  });
  EXPECT_EQ(death.signal, SIGSEGV);
  size_t died = 0;
  for (const CrashNote& note : death.notes) {
    if (note.state != CrashNote::kDied) continue;
    ++died;
    EXPECT_EQ(note.digest, DigestOf(1));
  }
  EXPECT_EQ(died, 1u);
}

TEST(CrashNotes, BlameNoInputThatIsOver) {
  const Death death = DieBy([] {
    NoteInput(DigestOf(3));
    ForgetInput();
    raise(SIGSEGV);
  });
  EXPECT_EQ(death.signal, SIGSEGV);
  for (const CrashNote& note : death.notes) EXPECT_EQ(note.state, CrashNote::kFree);
}

TEST(CrashNotes, GiveTheSlotOfAThreadThatEndedToTheNext) {
  const Death death = DieBy([] {
    for (uint8_t i = 0; i < 3 * kSlots; ++i) std::thread([i] { NoteInput(DigestOf(i)); }).join();
    NoteInput(DigestOf(77));
    raise(SIGBUS);
  });
  ExpectBlamed(death, SIGBUS, 77);
}

TEST(CrashNotes, GoOnWithoutASlot) {
  const Death death = DieBy([] {
    std::vector<std::thread> threads;
    std::atomic<size_t> working{0};
    for (size_t i = 0; i < kSlots + 1; ++i) {
      threads.emplace_back([&working] {
        NoteInput(DigestOf(5));
        ++working;
        while (working <= kSlots) std::this_thread::yield();
        ForgetInput();
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(death.signal, 0);
}

TEST(CrashNotes, CallTheHandlerThatWasThereBefore) {
  const Death death = DieBy([] {});
  EXPECT_EQ(death.signal, 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, [](int) { _exit(33); });
    const std::string path = testing::TempDir() + "crash-notes-earlier-" + std::to_string(getpid());
    OpenCrashNotes(path, kSlots);
    unlink(path.c_str());
    raise(SIGSEGV);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 33);
}

TEST(CrashNotes, SayThatTheFileCannotBeMade) {
  EXPECT_THROW(OpenCrashNotes("/nowhere/at/all", kSlots), std::system_error);
}

}  // namespace
}  // namespace veravox
