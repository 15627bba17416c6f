#define _GNU_SOURCE
#include "StoreSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>

int store_system_keep_log(void *connection)
{
  return sqlite3_db_config(
    (sqlite3 *)connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
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
