#ifndef STORE_SYSTEM_H
#define STORE_SYSTEM_H

/// Lets closing the connection `sqlite3 *` leave the write-ahead log (WAL) as it is. SQLite's call for that
/// takes a variable number of arguments, which Swift cannot pass.
///
/// Returns SQLITE_OK, or SQLite's code.
int store_system_keep_log(void *connection);

/// Allocates disk space for a file at an offset, beyond its length, which stays.
///
/// Returns 0, or -1 with errno set; EOPNOTSUPP where the file system cannot do that.
int store_system_allocate(int file, long long offset, long long size);

/// Gives back the disk space that a file has at an offset and behind it, beyond its length.
void store_system_release(int file, long long offset);

#endif
