// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a program by LD_PRELOAD: for names below silent.test, name servers never say a word, and names below none.test do
// not exist. Others are looked up as ever.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int (*Lookup)(const char*, const char*, const struct addrinfo*, struct addrinfo**);

static int is_below(const char* name, const char* domain) {
  const char* found = name == NULL ? NULL : strstr(name, domain);
  return found != NULL && strlen(found) == strlen(domain);
}

int getaddrinfo(const char* name, const char* service, const struct addrinfo* hints, struct addrinfo** found) {
  while (is_below(name, ".silent.test")) pause();
  if (is_below(name, ".none.test")) return EAI_NONAME;
  Lookup next = (Lookup)dlsym(RTLD_NEXT, "getaddrinfo");
  return next(name, service, hints, found);
}
