#ifndef STORE_SYSTEM_H
#define STORE_SYSTEM_H

/// Switches of a SQLite connection that its C interface offers by a call with a variable number of
/// arguments, which Swift cannot make.
typedef enum {
  /// Closing the last connection leaves the write-ahead log (WAL) as it is.
  StoreSystemNoCheckpointOnClose,
  /// SQL can change neither the schema's table nor what virtual tables keep their data in.
  StoreSystemDefensive,
  /// The schema may call functions and virtual tables that do harm.
  StoreSystemTrustedSchema,
  /// Triggers of the schema run.
  StoreSystemTriggers,
  /// Views of the schema can be read.
  StoreSystemViews
} StoreSystemSwitch;

/// Turns a switch of the connection `sqlite3 *` on or off.
///
/// Returns SQLITE_OK, or SQLite's code.
int store_system_set(void *connection, StoreSystemSwitch name, int isOn);

/// Allocates disk space for a file at an offset, beyond its length, which stays.
///
/// Returns 0, or -1 with errno set; EOPNOTSUPP where the file system cannot do that.
int store_system_allocate(int file, long long offset, long long size);

/// Gives back the disk space that a file has at an offset and behind it, beyond its length.
void store_system_release(int file, long long offset);

/// How often this process and its ancestors forked after the module was loaded, with each fork counted in the child
/// alone: memory that holds random bytes to use once is a copy of the parent's if the number has changed.
unsigned store_system_forks(void);

#endif
