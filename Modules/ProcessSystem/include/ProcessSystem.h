#ifndef PROCESS_SYSTEM_H
#define PROCESS_SYSTEM_H

#include <stddef.h>

/// Writes no core dump when the process crashes. Returns 0, or -1 with `errno`.
int process_forbid_core_dumps(void);

/// Overwrites memory with zeros; no compiler leaves the write out because the memory is freed next.
void process_clear(void *start, size_t count);

/// Lets no process of the same user trace this one or read its memory. Returns 0, or -1 where the system has no such
/// switch.
int process_forbid_tracing(void);

/// Keeps all pages that the process uses from being swapped out, unless there is a limit of locked memory: with one,
/// each allocation beyond it would fail. Returns 0, or -1.
int process_lock_memory(void);

/// The user at the other end of a connected Unix socket. Returns 0, or -1 with `errno`.
int process_peer_user(int socket, unsigned int *user);

/// Makes TLS 1.2 the lowest version of all later connections over the OpenSSL that the process has loaded, unless the
/// system's configuration demands as much. Returns 0, or -1 if there is none, or it cannot be set up.
int process_demand_tls_1_2(void);

#endif
