// SPDX-License-Identifier: Apache-2.0
#include "outgoing/name_question.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>

namespace veravox {
namespace {

const char* CodeOf(int failure) {
  if (failure == EAI_AGAIN) return "EAI_AGAIN";
  return failure == EAI_NONAME || failure == EAI_NODATA ? "ENOTFOUND" : "EAI_FAIL";
}

std::string AnswerFor(const std::string& host) {
  addrinfo hints{};
  // Otherwise each address comes once per kind of socket.
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int failure = getaddrinfo(host.c_str(), nullptr, &hints, &first)) return CodeOf(failure);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(first, freeaddrinfo);
  std::string answer;
  for (const addrinfo* entry = first; entry != nullptr; entry = entry->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool is_ipv4 = entry->ai_family == AF_INET;
    const void* address = &reinterpret_cast<const sockaddr_in6*>(entry->ai_addr)->sin6_addr;
    if (is_ipv4) address = &reinterpret_cast<const sockaddr_in*>(entry->ai_addr)->sin_addr;
    if (inet_ntop(entry->ai_family, address, text.data(), text.size()) == nullptr) continue;
    answer += (is_ipv4 ? "4 " : "6 ") + std::string(text.data()) + '\n';
  }
  return answer;
}

// Gives up if nobody reads: Node ignores SIGPIPE.
void Write(int pipe, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(pipe, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<size_t>(written);
  }
}

}  // namespace

int AskForAddresses(const std::string& host) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  const auto [reader, writer] = ends;
  try {
    std::thread([host, pipe = writer] {
      try {
        Write(pipe, AnswerFor(host));
      } catch (...) {  // out of memory: the answer is empty
      }
      close(pipe);
    }).detach();
  } catch (...) {
    close(reader);
    close(writer);
    throw;
  }
  return reader;
}

}  // namespace veravox
