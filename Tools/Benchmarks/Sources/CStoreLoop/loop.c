#include "CStoreLoop.h"

#include <sqlite3.h>

static const char *const table =
    "PRAGMA page_size = 4096;"
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -65536;"
    "PRAGMA wal_autocheckpoint = 8000;"
    "CREATE TABLE TABLE_1 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER,"
    " lastModified INTEGER, TABLE_1_0 TEXT, TABLE_1_1 TEXT, TABLE_1_2 INTEGER, TABLE_1_3 REAL);";

static const char *const indexes =
    "CREATE INDEX TABLE_1_created_idx ON TABLE_1 ( created );"
    "CREATE INDEX TABLE_1_lastModified_idx ON TABLE_1 ( lastModified );"
    "CREATE INDEX TABLE_1_0_idx ON TABLE_1 ( TABLE_1_0 );"
    "CREATE INDEX TABLE_1_1_idx ON TABLE_1 ( TABLE_1_1 );"
    "CREATE INDEX TABLE_1_2_idx ON TABLE_1 ( TABLE_1_2 );"
    "CREATE INDEX TABLE_1_3_idx ON TABLE_1 ( TABLE_1_3 );"
    "CREATE INDEX TABLE_1_4_idx ON TABLE_1 ( json_extract(soup, '$.Industry') );";

static int insert_all(sqlite3 *db, sqlite3_stmt *insert, const StoreLoopElement *elements,
                      int32_t count, int32_t batch) {
  for (int32_t i = 0; i < count; i++) {
    if (i % batch == 0) {
      int began = sqlite3_exec(db, "BEGIN IMMEDIATE", 0, 0, 0);
      if (began != SQLITE_OK) return began;
    }
    const StoreLoopElement *element = &elements[i];
    sqlite3_bind_text(insert, 1, element->text, element->text_length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, 1700000000000 + i);
    sqlite3_bind_int64(insert, 3, 1700000000000 + i);
    sqlite3_bind_text(insert, 4, element->name, element->name_length, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, element->external_id, element->external_id_length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 6, element->employees);
    sqlite3_bind_double(insert, 7, element->revenue);
    int stepped = sqlite3_step(insert);
    if (stepped != SQLITE_DONE) return stepped;
    sqlite3_reset(insert);
    if (i % batch == batch - 1 || i == count - 1) {
      int committed = sqlite3_exec(db, "COMMIT", 0, 0, 0);
      if (committed != SQLITE_OK) return committed;
    }
  }
  return SQLITE_OK;
}

int store_loop_insert(const char *path, const StoreLoopElement *elements, int32_t count, int32_t batch) {
  sqlite3 *db = 0;
  sqlite3_stmt *insert = 0;
  int result = sqlite3_open(path, &db);
  if (result == SQLITE_OK) result = sqlite3_exec(db, table, 0, 0, 0);
  if (result == SQLITE_OK) result = sqlite3_exec(db, indexes, 0, 0, 0);
  if (result == SQLITE_OK)
    result = sqlite3_prepare_v2(
        db,
        "INSERT INTO TABLE_1 (soup, created, lastModified, TABLE_1_0, TABLE_1_1, TABLE_1_2,"
        " TABLE_1_3) VALUES (?, ?, ?, ?, ?, ?, ?)",
        -1, &insert, 0);
  if (result == SQLITE_OK) result = insert_all(db, insert, elements, count, batch);
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return result;
}
