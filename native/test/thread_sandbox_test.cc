// SPDX-License-Identifier: Apache-2.0
#include "guard/thread_sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

namespace veravox {
namespace {

// The errno of `deed` (0: success) in a sandboxed thread; -1 if the system has no sandbox. Not std::thread:
// the sanitizer's check of its virtual calls makes pipes, which the sandbox refuses.
struct Attempt {
  std::function<long()> deed;
  int result = 0;
};

int ErrnoInSandbox(std::function<long()> deed) {
  Attempt attempt{std::move(deed)};
  const auto run = [](void* argument) -> void* {
    Attempt& inside = *static_cast<Attempt*>(argument);
    if (SandboxThisThread() != 0) {
      inside.result = -1;
    } else {
      errno = 0;
      inside.result = inside.deed() < 0 ? errno : 0;
    }
    return nullptr;
  };
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, nullptr, run, &attempt), 0);
  pthread_join(thread, nullptr);
  return attempt.result;
}

class ThreadSandbox : public testing::Test {
 protected:
  void SetUp() override {
    if (ErrnoInSandbox([] { return 0L; }) == -1) GTEST_SKIP() << "This system has no seccomp filters.";
  }
};

TEST_F(ThreadSandbox, OpensNoFile) {
  EXPECT_EQ(ErrnoInSandbox([] { return open("/etc/passwd", O_RDONLY); }), EPERM);
}

TEST_F(ThreadSandbox, OpensNoConnection) {
  EXPECT_EQ(ErrnoInSandbox([] { return socket(AF_INET, SOCK_STREAM, 0); }), EPERM);
}

TEST_F(ThreadSandbox, StartsNoProgram) {
  EXPECT_EQ(ErrnoInSandbox([] { return syscall(SYS_execve, "/bin/true", nullptr, nullptr); }), EPERM);
  EXPECT_EQ(ErrnoInSandbox([] { return syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); }),
            EPERM);
}

TEST_F(ThreadSandbox, SignalsNoOtherProcess) {
  EXPECT_EQ(ErrnoInSandbox([] { return kill(getppid(), 0); }), EPERM);
  EXPECT_EQ(ErrnoInSandbox([] { return syscall(SYS_tgkill, getppid(), getppid(), 0); }), EPERM);
}

TEST_F(ThreadSandbox, RemovesNoFile) {
  EXPECT_EQ(ErrnoInSandbox([] { return syscall(SYS_unlinkat, AT_FDCWD, "/nowhere", 0); }), EPERM);
}

TEST_F(ThreadSandbox, LeavesMemoryAlone) {
  EXPECT_EQ(ErrnoInSandbox([] {
              std::vector<char> large(64 << 20, 1);
              return large.back() == 1 ? 0L : -1L;
            }),
            0);
}

// V8 uses it from Node 24 on when it waits for a lock, and prints a complaint if refused.
TEST_F(ThreadSandbox, KnowsItsPriority) {
  EXPECT_EQ(ErrnoInSandbox([] {
              int policy = 0;
              sched_param parameters = {};
              return pthread_getschedparam(pthread_self(), &policy, &parameters) == 0 ? 0L : -1L;
            }),
            0);
}

TEST_F(ThreadSandbox, HoldsForItsThreadOnly) {
  EXPECT_EQ(ErrnoInSandbox([] { return 0L; }), 0);
  const int file = open("/etc/passwd", O_RDONLY);
  EXPECT_GE(file, 0);
  close(file);
}

}  // namespace
}  // namespace veravox
