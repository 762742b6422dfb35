// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace veravox {

// Permanently takes every system call that decoding does not need from the calling thread: it can no longer
// open files or connections, start programs or threads, or signal others. Such calls fail with EPERM. Open
// descriptors stay readable and writable, and memory is shared with other threads: this makes an exploited
// decoder's next step hard, not impossible. Returns 0, or the errno if the system refuses: ENOSYS on
// processors without a list of calls.
int SandboxThisThread();

}  // namespace veravox
