// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace veravox {

// Asks the system for the addresses of a host, as every other program on it does: by nsswitch.conf, so with
// /etc/hosts. Returns the end of a pipe that brings the answer, for the caller to close: a line for each
// address with its family, such as "4 192.0.2.1", or an error's code in Node's words. If name servers say
// nothing, the answer takes half a minute, and nothing can end it earlier. So each question has a thread of
// its own, which touches nothing but the pipe and may still be there when the process ends. Throws
// std::system_error if the system has no thread or pipe left.
int AskForAddresses(const std::string& host);

}  // namespace veravox
