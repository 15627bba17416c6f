// Calls of the system that Swift does not import: functions with variable arguments, and constants of headers that
// its maps of the C library leave out.
#define _GNU_SOURCE
#define __STDC_WANT_LIB_EXT1__ 1
#include "ProcessSystem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

int process_forbid_core_dumps(void)
{
  struct rlimit none = { 0, 0 };
  return setrlimit(RLIMIT_CORE, &none);
}

void process_clear(void *start, size_t count)
{
#if defined(__APPLE__)
  memset_s(start, count, 0, count);
#else
  explicit_bzero(start, count);
#endif
}

int process_forbid_tracing(void)
{
#if defined(__linux__)
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#else
  errno = ENOTSUP;
  return -1;
#endif
}

int process_lock_memory(void)
{
#if defined(__linux__) && defined(MCL_ONFAULT)
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return -1;
  if (limit.rlim_cur != RLIM_INFINITY) {
    errno = EPERM;
    return -1;
  }
  return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
#else
  errno = ENOTSUP;
  return -1;
#endif
}

int process_peer_user(int socket, unsigned int *user)
{
#if defined(__linux__)
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  *user = credentials.uid;
  return 0;
#else
  uid_t found;
  gid_t group;
  if (getpeereid(socket, &found, &group) != 0) return -1;
  *user = found;
  return 0;
#endif
}
