#ifndef C_STORE_LOOP_H
#define C_STORE_LOOP_H

#include <stdint.h>

/// What one element binds: its text and the values of its indexed paths, found beforehand.
typedef struct {
  const char *text;
  int32_t text_length;
  const char *name;
  int32_t name_length;
  const char *external_id;
  int32_t external_id_length;
  int64_t employees;
  double revenue;
} StoreLoopElement;

/// Inserts `count` elements in batches of `batch`, a transaction each, into a fresh plain-text database at
/// `path` whose schema, indexes, journal and cache are those of a soup with five index specs.
///
/// Returns 0, or SQLite's result code of the first call that failed.
int store_loop_insert(const char *path, const StoreLoopElement *elements, int32_t count, int32_t batch);

#endif
