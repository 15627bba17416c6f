#include "StoreSystem.h"

#include <sqlite3.h>

int store_system_keep_log(void *connection)
{
  return sqlite3_db_config(
    (sqlite3 *)connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
