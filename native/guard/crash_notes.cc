// SPDX-License-Identifier: Apache-2.0
#include "guard/crash_notes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>

namespace veravox {
namespace {

constexpr std::array<int, 6> kDeadlySignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

// A crash concerns the whole process, and so does this state: set once, before the first note.
std::atomic<CrashNote*> g_notes{nullptr};
size_t g_slots = 0;
std::array<struct sigaction, kDeadlySignals.size()> g_earlier;

// A syscall, since the first access to a thread_local allocates memory, which a dying thread may not.
int32_t ThreadId() { return static_cast<int32_t>(syscall(SYS_gettid)); }

std::atomic_ref<uint32_t> StateOf(CrashNote& note) { return std::atomic_ref<uint32_t>(note.state); }

void MarkDied(int signal) {
  CrashNote* notes = g_notes.load(std::memory_order_acquire);
  if (notes == nullptr) return;
  const int32_t thread_id = ThreadId();
  for (size_t i = 0; i < g_slots; ++i) {
    if (notes[i].thread_id != thread_id || StateOf(notes[i]).load() != CrashNote::kWorking) continue;
    notes[i].signal = signal;
    StateOf(notes[i]).store(CrashNote::kDied);
  }
}

void OnDeadlySignal(int signal, siginfo_t* info, void* context) {
  MarkDied(signal);
  for (size_t i = 0; i < kDeadlySignals.size(); ++i) {
    if (kDeadlySignals[i] != signal) continue;
    const struct sigaction& earlier = g_earlier[i];
    if (earlier.sa_flags & SA_SIGINFO) {
      earlier.sa_sigaction(signal, info, context);
    } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
      earlier.sa_handler(signal);
    } else {
      // Faults recur on return; signals that were sent, as by kill(), are raised again.
      sigaction(signal, &earlier, nullptr);
      if (info->si_code <= 0) raise(signal);
    }
  }
}

// A separate stack for the handler, without which a stack overflow leaves no mark.
class AlternateStack {
 public:
  AlternateStack() : memory_(std::make_unique<char[]>(kBytes)) {
    stack_t stack = {};
    stack.ss_sp = memory_.get();
    stack.ss_size = kBytes;
    stack_t earlier = {};
    if (sigaltstack(nullptr, &earlier) == 0 && (earlier.ss_flags & SS_DISABLE) != 0)
      is_set_ = sigaltstack(&stack, nullptr) == 0;
  }
  ~AlternateStack() {
    if (!is_set_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  static constexpr size_t kBytes = 64 * 1024;
  std::unique_ptr<char[]> memory_;
  bool is_set_ = false;
};

// The slot that a thread keeps from its first input to its end.
class ThreadNote {
 public:
  explicit ThreadNote(std::span<CrashNote> notes) {
    const int32_t thread_id = ThreadId();
    for (CrashNote& note : notes) {
      int32_t nobody = 0;
      if (!std::atomic_ref<int32_t>(note.thread_id).compare_exchange_strong(nobody, thread_id)) continue;
      note_ = &note;
      return;
    }
  }
  ~ThreadNote() {
    if (note_ == nullptr) return;
    End();
    std::atomic_ref<int32_t>(note_->thread_id).store(0);
  }
  ThreadNote(const ThreadNote&) = delete;
  ThreadNote& operator=(const ThreadNote&) = delete;

  void Begin(const InputDigest& digest) {
    if (note_ == nullptr) return;
    note_->digest = digest;
    StateOf(*note_).store(CrashNote::kWorking, std::memory_order_release);
  }
  void End() {
    if (note_ != nullptr) StateOf(*note_).store(CrashNote::kFree, std::memory_order_release);
  }

 private:
  AlternateStack stack_;
  CrashNote* note_ = nullptr;
};

ThreadNote* OfThisThread() {
  CrashNote* notes = g_notes.load(std::memory_order_acquire);
  if (notes == nullptr) return nullptr;
  thread_local ThreadNote note(std::span(notes, g_slots));
  return &note;
}

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

CrashNote* MapFile(const std::string& path, size_t slots) {
  const size_t bytes = (slots + 1) * sizeof(CrashNote);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) ThrowErrno(path);
  // Reserves the disk space now: later, a full disk would end the process at the first note.
  const int failure = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* memory =
      failure == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (failure != 0) errno = failure;
  const int reason = errno;
  close(file);
  errno = reason;
  if (memory == MAP_FAILED) ThrowErrno(path);
  std::memcpy(memory, kCrashNotesMagic.data(), kCrashNotesMagic.size());
  return static_cast<CrashNote*>(memory) + 1;
}

}  // namespace

void OpenCrashNotes(const std::string& path, size_t slots) {
  static std::mutex once;
  const std::lock_guard lock(once);
  if (g_notes.load() != nullptr) return;
  CrashNote* notes = MapFile(path, slots);
  g_slots = slots;
  g_notes.store(notes, std::memory_order_release);
  for (size_t i = 0; i < kDeadlySignals.size(); ++i) {
    struct sigaction action = {};
    action.sa_sigaction = OnDeadlySignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(kDeadlySignals[i], &action, &g_earlier[i]);
  }
}

void NoteInput(const InputDigest& digest) {
  if (ThreadNote* note = OfThisThread()) note->Begin(digest);
}

void ForgetInput() {
  if (ThreadNote* note = OfThisThread()) note->End();
}

}  // namespace veravox
