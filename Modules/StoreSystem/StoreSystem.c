#define _GNU_SOURCE
#include "StoreSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>

int store_system_set(void *connection, StoreSystemSwitch name, int isOn)
{
  int option = 0;
  switch (name) {
  case StoreSystemNoCheckpointOnClose: option = SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE; break;
  case StoreSystemDefensive: option = SQLITE_DBCONFIG_DEFENSIVE; break;
  case StoreSystemTrustedSchema: option = SQLITE_DBCONFIG_TRUSTED_SCHEMA; break;
  case StoreSystemTriggers: option = SQLITE_DBCONFIG_ENABLE_TRIGGER; break;
  case StoreSystemViews: option = SQLITE_DBCONFIG_ENABLE_VIEW; break;
  }
  int now = !isOn;
  int code = sqlite3_db_config((sqlite3 *)connection, option, isOn, &now);
  if (code != SQLITE_OK) return code;
  return now == isOn ? SQLITE_OK : SQLITE_ERROR;
}

int store_system_allocate(int file, long long offset, long long size)
{
#if defined(__linux__)
  return fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
#elif defined(__APPLE__)
  // Counted from the end of what is allocated already.
  fstore_t store = {
    .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)size
  };
  return fcntl(file, F_PREALLOCATE, &store) < 0 ? -1 : 0;
#else
  errno = EOPNOTSUPP;
  return -1;
#endif
}

void store_system_release(int file, long long offset)
{
#if defined(__linux__)
  (void)fallocate(
    file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, (off_t)offset, (off_t)1 << 40);
#endif
}

static volatile unsigned forks;

static void count_fork(void) { forks++; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned store_system_forks(void) { return forks; }
