// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace veravox {

// Takes from the calling thread, for good, every system call that decoding does not need: it can no longer
// open files or connections, start programs or threads, or signal others. Such calls fail with EPERM. What
// the process already has open stays readable and writable, and memory is shared with other threads: this
// makes an exploited decoder's next step hard, not impossible. Returns 0, or the errno that says why the
// system does not let it: ENOSYS on processors without a list of calls.
int SandboxThisThread();

}  // namespace veravox
