#ifndef STORE_SYSTEM_H
#define STORE_SYSTEM_H

/// Lets closing the connection `sqlite3 *` leave the write-ahead log (WAL) as it is. SQLite's call for that
/// takes a variable number of arguments, which Swift cannot pass.
///
/// Returns SQLITE_OK, or SQLite's code.
int store_system_keep_log(void *connection);

#endif
