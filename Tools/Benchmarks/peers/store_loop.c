// The limit of the SmartStore rows: what a loop over SQLite's C interface does on a file with the same
// schema, pragmas and batches. Built against SQLCipher and given a key it is the peer of the encrypted rows.
//
//   store_loop ELEMENTS FOLDER [KEY]
//
// ELEMENTS has a line for each element: text, name, external id, employees, revenue and notes, with tabs
// between them. Prints one JSON object with the seconds of each row; a row that this build of SQLite cannot
// do is left out.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include STORE_LOOP_SQLITE

typedef struct {
  const char *text, *name, *number, *notes;
  int64_t employees;
  double revenue;
} Element;

static sqlite3 *db;
static Element *elements;
static int count;
static int printed;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(const char *row, double start) {
  printf("%s\"%s\":%.6f", printed++ ? "," : "", row, now() - start);
}

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : "");
  exit(1);
}

static int try(const char *sql) { return sqlite3_exec(db, sql, 0, 0, 0); }

static void run(const char *sql) {
  if (try(sql) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement = 0;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, 0) != SQLITE_OK) fail(sql);
  return statement;
}

static void done(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail("step");
  sqlite3_reset(statement);
}

// One value of a row that a caller gets.
typedef struct {
  int type;
  int64_t integer;
} Value;

// What a caller gets: a row of numbers in memory of its own.
static void take_row(sqlite3_stmt *statement) {
  int columns = sqlite3_column_count(statement);
  Value *row = malloc((size_t)columns * sizeof(Value));
  for (int i = 0; i < columns; i++) {
    row[i].type = sqlite3_column_type(statement, i);
    row[i].integer = sqlite3_column_int64(statement, i);
  }
  free(row);
}

// What a caller gets: the element's text in memory of its own.
static size_t take(sqlite3_stmt *statement, int column) {
  const unsigned char *text = sqlite3_column_text(statement, column);
  size_t size = (size_t)sqlite3_column_bytes(statement, column);
  char *copy = malloc(size);
  memcpy(copy, text, size);
  free(copy);
  return size;
}

static void load(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char *line = 0;
  size_t capacity = 0, room = 0;
  while (getline(&line, &capacity, file) > 0) {
    if ((size_t)count == room) {
      room = room ? room * 2 : 1024;
      elements = realloc(elements, room * sizeof(Element));
    }
    char *rest = strdup(line);
    Element *element = &elements[count++];
    element->text = strsep(&rest, "\t");
    element->name = strsep(&rest, "\t");
    element->number = strsep(&rest, "\t");
    element->employees = atoll(strsep(&rest, "\t"));
    element->revenue = atof(strsep(&rest, "\t"));
    element->notes = strsep(&rest, "\n");
  }
  free(line);
  fclose(file);
}

static void create_indexes(int table) {
  static const char *const columns[] = {"created", "lastModified", "0", "1", "2", "3"};
  char sql[256];
  for (int i = 0; i < 6; i++) {
    const char *prefix = i < 2 ? "" : "TABLE_";
    if (i < 2) snprintf(sql, sizeof sql, "CREATE INDEX TABLE_%d_%s_idx ON TABLE_%d ( %s )", table, columns[i], table, columns[i]);
    else snprintf(sql, sizeof sql, "CREATE INDEX TABLE_%d_%s_idx ON TABLE_%d ( %s%d_%s )", table, columns[i], table, prefix, table, columns[i]);
    run(sql);
  }
  // An old build may lack JSON: then it has one index less to keep.
  snprintf(sql, sizeof sql, "CREATE INDEX TABLE_%d_4_idx ON TABLE_%d ( json_extract(soup, '$.Industry') )", table, table);
  try(sql);
}

static void create_table(int table) {
  char sql[512];
  snprintf(sql, sizeof sql,
           "CREATE TABLE TABLE_%d (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER,"
           " lastModified INTEGER, TABLE_%d_0 TEXT, TABLE_%d_1 TEXT, TABLE_%d_2 INTEGER, TABLE_%d_3 REAL)",
           table, table, table, table, table);
  run(sql);
}

static void create(const char *folder, const char *key) {
  char path[4096];
  snprintf(path, sizeof path, "%s/loop.sqlite", folder);
  if (sqlite3_open(path, &db) != SQLITE_OK) fail(path);
  if (key) {
    char pragma[256];
    snprintf(pragma, sizeof pragma, "PRAGMA key = \"x'%s'\"", key);
    run(pragma);
    run("PRAGMA cipher_page_size = 4096");
  }
  run("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000;");
  create_table(1);
  create_indexes(1);
}

static void bind(sqlite3_stmt *statement, int first, const Element *element) {
  sqlite3_bind_text(statement, first, element->name, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, first + 1, element->number, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, first + 2, element->employees);
  sqlite3_bind_double(statement, first + 3, element->revenue);
}

static sqlite3_stmt *insert;

static void insert_one(const Element *element, int64_t time) {
  sqlite3_bind_text(insert, 1, element->text, -1, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 2, time);
  sqlite3_bind_int64(insert, 3, time);
  bind(insert, 4, element);
  done(insert);
}

static void insert_all(int batch) {
  for (int i = 0; i < count; i++) {
    if (i % batch == 0) run("BEGIN IMMEDIATE");
    insert_one(&elements[i], 1700000000000 + i);
    if (i % batch == batch - 1 || i == count - 1) run("COMMIT");
  }
}

static void insert_rows(int batch) {
  insert = prepare("INSERT INTO TABLE_1 (soup, created, lastModified, TABLE_1_0, TABLE_1_1, TABLE_1_2,"
                   " TABLE_1_3) VALUES (?, ?, ?, ?, ?, ?, ?)");
  double start = now();
  insert_all(batch);
  report("insert", start);
}

// The indexes after the last element, and the page cache that the store has for it.
static void load_rows(int batch) {
  run("PRAGMA cache_size = -131072");
  create_table(3);
  insert = prepare("INSERT INTO TABLE_3 (soup, created, lastModified, TABLE_3_0, TABLE_3_1, TABLE_3_2,"
                   " TABLE_3_3) VALUES (?, ?, ?, ?, ?, ?, ?)");
  double start = now();
  insert_all(batch);
  create_indexes(3);
  report("load", start);
}

static void upsert_rows(int batch, int amount) {
  sqlite3_stmt *find = prepare("SELECT id FROM TABLE_1 WHERE TABLE_1_1 = ? LIMIT 2");
  sqlite3_stmt *update = prepare("UPDATE TABLE_1 SET soup = ?, lastModified = ?, TABLE_1_0 = ?, TABLE_1_1 = ?,"
                                 " TABLE_1_2 = ?, TABLE_1_3 = ? WHERE id = ?");
  double start = now();
  for (int i = 0; i < amount; i++) {
    const Element *element = &elements[(int64_t)i * 7919 % count];
    if (i % batch == 0) run("BEGIN IMMEDIATE");
    sqlite3_bind_text(find, 1, element->number, -1, SQLITE_STATIC);
    if (sqlite3_step(find) != SQLITE_ROW) fail("find");
    int64_t id = sqlite3_column_int64(find, 0);
    if (sqlite3_step(find) != SQLITE_DONE) fail("unique");
    sqlite3_reset(find);
    sqlite3_bind_text(update, 1, element->text, -1, SQLITE_STATIC);
    sqlite3_bind_int64(update, 2, 1700001000000 + i);
    bind(update, 3, element);
    sqlite3_bind_int64(update, 7, id);
    done(update);
    if (i % batch == batch - 1 || i == amount - 1) run("COMMIT");
  }
  report("upsert", start);
  start = now();
  for (int i = 0; i < 300; i++) {
    run("BEGIN IMMEDIATE");
    insert_one(&elements[i], 1700002000000 + i);
    run("COMMIT");
  }
  report("single", start);
}

static void exact_rows(int amount) {
  // Reads go on while another connection writes: each is a transaction of its own, as in the store.
  sqlite3_stmt *exact = prepare("SELECT * FROM (SELECT TABLE_1.soup FROM TABLE_1 WHERE TABLE_1_1 = ?) LIMIT ?, ?");
  for (int pass = 0; pass < 3; pass++) {
    int transactions = pass < 2;
    if (!transactions) run("BEGIN");
    double start = now();
    for (int i = 0; i < amount; i++) {
      sqlite3_bind_text(exact, 1, elements[(300 + (int64_t)i * 7919) % count].number, -1, SQLITE_STATIC);
      sqlite3_bind_int(exact, 2, 0);
      sqlite3_bind_int(exact, 3, 1);
      if (sqlite3_step(exact) != SQLITE_ROW) fail("exact");
      take(exact, 0);
      sqlite3_reset(exact);
    }
    // The first pass fills the cache and is not counted.
    if (pass > 0) report(transactions ? "exact" : "exactInSnapshot", start);
    if (!transactions) run("COMMIT");
  }
}

static void page_rows(int amount) {
  sqlite3_stmt *page =
      prepare("SELECT * FROM (SELECT TABLE_1.soup FROM TABLE_1 WHERE TABLE_1_2 >= ? AND TABLE_1_2 <= ?"
              " ORDER BY TABLE_1_2 ASC) LIMIT ?, ?");
  double start = now();
  for (int i = -amount; i < amount; i++) {
    if (i == 0) start = now();
    int low = (i + amount) % amount * 97 % 40000, rows = 0;
    sqlite3_bind_int(page, 1, low);
    sqlite3_bind_int(page, 2, low + 5000);
    sqlite3_bind_int(page, 3, 0);
    sqlite3_bind_int(page, 4, 100);
    for (; sqlite3_step(page) == SQLITE_ROW; rows++) take(page, 0);
    if (rows != 100) fail("page");
    sqlite3_reset(page);
  }
  report("page", start);
}

static void scalar_row(const char *row, const char *sql, int amount) {
  sqlite3_stmt *statement = prepare(sql);
  double start = now();
  for (int i = -amount; i < amount; i++) {
    if (i == 0) start = now();
    while (sqlite3_step(statement) == SQLITE_ROW) take_row(statement);
    sqlite3_reset(statement);
  }
  report(row, start);
}

static void match_rows(int batch, int amount) {
  if (try("CREATE TABLE TABLE_2 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, TABLE_2_0 TEXT);"
          "CREATE VIRTUAL TABLE TABLE_2_fts USING fts5(TABLE_2_0)") != SQLITE_OK)
    return;
  sqlite3_stmt *row = prepare("INSERT INTO TABLE_2 (soup, TABLE_2_0) VALUES (?, ?)");
  sqlite3_stmt *words = prepare("INSERT INTO TABLE_2_fts (rowid, TABLE_2_0) VALUES (?, ?)");
  for (int i = 0; i < count; i++) {
    if (i % batch == 0) run("BEGIN IMMEDIATE");
    sqlite3_bind_text(row, 1, elements[i].text, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, elements[i].notes, -1, SQLITE_STATIC);
    done(row);
    sqlite3_bind_int64(words, 1, sqlite3_last_insert_rowid(db));
    sqlite3_bind_text(words, 2, elements[i].notes, -1, SQLITE_STATIC);
    done(words);
    if (i % batch == batch - 1 || i == count - 1) run("COMMIT");
  }
  sqlite3_stmt *match =
      prepare("SELECT * FROM (SELECT TABLE_2.soup FROM TABLE_2 WHERE TABLE_2.id IN (SELECT rowid FROM"
              " TABLE_2_fts WHERE TABLE_2_fts MATCH ?)) LIMIT ?, ?");
  double start = now();
  for (int i = -amount; i < amount; i++) {
    if (i == 0) start = now();
    char key[32];
    int rows = 0;
    snprintf(key, sizeof key, "word%d", (i + amount) % amount % (count / 20));
    sqlite3_bind_text(match, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_int(match, 2, 0);
    sqlite3_bind_int(match, 3, 100);
    for (; sqlite3_step(match) == SQLITE_ROW; rows++) take(match, 0);
    if (rows != 20) fail("match");
    sqlite3_reset(match);
  }
  report("match", start);
}

int main(int argumentCount, char **arguments) {
  if (argumentCount < 3) fail("store_loop ELEMENTS FOLDER [KEY]");
  load(arguments[1]);
  create(arguments[2], argumentCount > 3 ? arguments[3] : 0);
  printf("{\"rows\":{");
  insert_rows(2000);
  upsert_rows(2000, 20000);
  // The page cache of the connection with which the store reads.
  run("PRAGMA cache_size = -98304");
  exact_rows(20000);
  page_rows(500);
  scalar_row("count", "SELECT count(*) FROM TABLE_1", 20);
  scalar_row("group", "SELECT * FROM (select TABLE_1_2, count(*) from TABLE_1 group by TABLE_1_2) LIMIT 0, 65536", 10);
  if (try("SELECT json_extract('{}', '$.x')") == SQLITE_OK)
    scalar_row("scan", "SELECT count(*) FROM TABLE_1 WHERE json_extract(soup, '$.Phone') = '(617) 555-1234'", 2);
  match_rows(2000, 2000);
  load_rows(2000);
  printf("}}\n");
  return 0;
}
