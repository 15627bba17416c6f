// Takes the place of the C library's calls on files in the program that this is linked into: its
// symbols come first for every shared library that the program loads, SQLite and Foundation among
// them. So it meets what is written below any layer and beside all of them.

#if defined(__linux__)

#define _GNU_SOURCE
#include "FaultyFiles.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <limits.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool armed;
static char folder[PATH_MAX];
static size_t folder_length;
static FaultyFilesKind armed_kind;
static FaultyFilesForm armed_form;
static int armed_error;
static long armed_number;
static long seen[FaultyFilesExamine + 1];
static char failed[PATH_MAX];
// The file whose next write fails, or -1.
static int torn = -1;

// A disk with room for so many blocks more, and the files of which more is allocated than their length.
enum { block = 4096, most_reserved = 64 };
static bool filling;
static long room;
static struct { ino_t file; off_t end; } reserved[most_reserved];

// What changes is written down in the order in which it happens: a call is made under this lock.
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool recording;
static int record = -1;

void faulty_files_arm(
  const char *path, FaultyFilesKind kind, FaultyFilesForm form, int error, long number)
{
  pthread_mutex_lock(&mutex);
  snprintf(folder, sizeof folder, "%s", path);
  folder_length = strlen(folder);
  armed_kind = kind;
  armed_form = form;
  armed_error = error;
  armed_number = number;
  memset(seen, 0, sizeof seen);
  failed[0] = 0;
  torn = -1;
  atomic_store(&armed, true);
  pthread_mutex_unlock(&mutex);
}

void faulty_files_disarm(void)
{
  pthread_mutex_lock(&mutex);
  atomic_store(&armed, false);
  atomic_store(&recording, false);
  filling = false;
  pthread_mutex_unlock(&mutex);
}

void faulty_files_fill(const char *path, long bytes)
{
  faulty_files_arm(path, FaultyFilesOpen, FaultyFilesNot, 0, -1);
  pthread_mutex_lock(&mutex);
  filling = true;
  room = bytes / block;
  memset(reserved, 0, sizeof reserved);
  pthread_mutex_unlock(&mutex);
}

void faulty_files_record(const char *path, const char *log)
{
  faulty_files_arm(path, FaultyFilesOpen, FaultyFilesNot, 0, -1);
  record = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  atomic_store(&recording, record >= 0);
}

long faulty_files_seen(FaultyFilesKind kind)
{
  return seen[kind];
}

const char *faulty_files_failed(void)
{
  return failed[0] ? failed : NULL;
}

// Counts an operation on `path`, and tells how it fails. Under the lock.
static FaultyFilesForm count(FaultyFilesKind kind, const char *path)
{
  bool isInside = strncmp(path, folder, folder_length) == 0
    && (path[folder_length] == 0 || path[folder_length] == '/');
  if (!isInside) return FaultyFilesNot;
  long number = seen[kind]++;
  if (kind != armed_kind) return FaultyFilesNot;
  bool isLasting = armed_form == FaultyFilesLasting;
  if (isLasting ? number < armed_number : number != armed_number) return FaultyFilesNot;
  if (!failed[0]) snprintf(failed, sizeof failed, "%s", path);
  return isLasting ? FaultyFilesError : armed_form;
}

// The same for a name, which counts from the folder `directory` if it does not begin with a slash.
static FaultyFilesForm meet_name(FaultyFilesKind kind, int directory, const char *name)
{
  if (!atomic_load(&armed) || !name) return FaultyFilesNot;
  int before = errno;
  char path[PATH_MAX];
  if (name[0] == '/') {
    snprintf(path, sizeof path, "%s", name);
  } else {
    char link[64];
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) length = 0;
    snprintf(path + length, sizeof path - (size_t)length, "/%s", name);
  }
  pthread_mutex_lock(&mutex);
  FaultyFilesForm form = count(kind, path);
  pthread_mutex_unlock(&mutex);
  errno = before;
  return form;
}

// The same for an open file.
static FaultyFilesForm meet_file(FaultyFilesKind kind, int file)
{
  if (!atomic_load(&armed)) return FaultyFilesNot;
  int before = errno;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  pthread_mutex_lock(&mutex);
  FaultyFilesForm form = FaultyFilesNot;
  if (kind == FaultyFilesWrite && torn == file) {
    torn = -1;
    form = FaultyFilesError;
  } else {
    form = count(kind, path);
    if (form == FaultyFilesTorn) torn = file;
  }
  pthread_mutex_unlock(&mutex);
  errno = before;
  return form;
}

static int refuse(void)
{
  errno = armed_error;
  return -1;
}

// At least one byte: none would be the end of the file.
static size_t half(size_t size) { return size > 1 ? size / 2 : size; }

#define SYSTEM(name, type) \
  static type system_##name; \
  if (!system_##name) system_##name = (type)dlsym(RTLD_NEXT, #name)

static long blocks(off_t size) { return (long)((size + block - 1) / block); }

static int examine(int file, struct stat *status)
{
  typedef int (*call)(int, struct stat *);
  SYSTEM(fstat, call);
  return system_fstat(file, status);
}

static int examine_name(const char *path, struct stat *status)
{
  typedef int (*call)(const char *, struct stat *);
  SYSTEM(lstat, call);
  return system_lstat(path, status);
}

// Where the end of what is allocated beyond a file's length is kept; NULL if there is no place for it.
static off_t *reserved_end(ino_t file)
{
  for (int i = 0; i < most_reserved; i++) if (reserved[i].file == file) return &reserved[i].end;
  for (int i = 0; i < most_reserved; i++)
    if (!reserved[i].end) {
      reserved[i].file = file;
      return &reserved[i].end;
    }
  return NULL;
}

static long allocated(const struct stat *status)
{
  off_t *end = reserved_end(status->st_ino);
  return blocks(end && *end > status->st_size ? *end : status->st_size);
}

static bool is_filling_file(int file)
{
  if (!filling) return false;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return strncmp(path, folder, folder_length) == 0;
}

// How many of `size` bytes at `offset` find room, which they take.
static size_t grow(int file, off_t offset, size_t size)
{
  int before = errno;
  pthread_mutex_lock(&mutex);
  struct stat status;
  if (is_filling_file(file) && examine(file, &status) == 0) {
    long had = allocated(&status);
    long needed = blocks(offset + (off_t)size) - had;
    if (needed > room) {
      off_t end = (off_t)(had + room) * block;
      size = end > offset ? (size_t)(end - offset) : 0;
      needed = room;
    }
    if (needed > 0) room -= needed;
  }
  pthread_mutex_unlock(&mutex);
  errno = before;
  return size;
}

// Gives back the room of what is about to lose its last name.
static void forget(const char *path)
{
  pthread_mutex_lock(&mutex);
  struct stat status;
  if (filling && strncmp(path, folder, folder_length) == 0 && examine_name(path, &status) == 0
      && S_ISREG(status.st_mode) && status.st_nlink == 1) {
    room += allocated(&status);
    off_t *end = reserved_end(status.st_ino);
    if (end) *end = 0;
  }
  pthread_mutex_unlock(&mutex);
}

static bool begin_recording(void)
{
  if (!atomic_load(&recording)) return false;
  pthread_mutex_lock(&order);
  return true;
}

static void end_recording(bool isRecorded)
{
  if (isRecorded) pthread_mutex_unlock(&order);
}

static void put(const void *bytes, size_t size)
{
  typedef ssize_t (*call)(int, const void *, size_t);
  SYSTEM(write, call);
  const char *rest = bytes;
  while (size > 0) {
    ssize_t done = system_write(record, rest, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) abort();
    rest += done;
    size -= (size_t)done;
  }
}

static void put_line(const char *format, ...)
{
  char line[3 * PATH_MAX];
  va_list rest;
  va_start(rest, format);
  int length = vsnprintf(line, sizeof line, format, rest);
  va_end(rest);
  put(line, (size_t)length);
}

void faulty_files_note(const char *text)
{
  bool isRecorded = begin_recording();
  if (isRecorded) put_line("n\t%s\n", text);
  end_recording(isRecorded);
}

static bool is_inside(const char *path)
{
  return strncmp(path, folder, folder_length) == 0
    && (path[folder_length] == 0 || path[folder_length] == '/');
}

// The path of an open file; empty if it is not in the folder.
static void inside_path(int file, char path[PATH_MAX])
{
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length > 0 ? length : 0] = 0;
  if (!is_inside(path)) path[0] = 0;
}

// The whole path of a name that counts from `directory`; empty if it is not in the folder.
static void whole_path(int directory, const char *name, char path[PATH_MAX])
{
  path[0] = 0;
  if (name[0] == '/') {
    snprintf(path, PATH_MAX, "%s", name);
  } else {
    char link[64];
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) length = 0;
    snprintf(path + length, PATH_MAX - (size_t)length, "/%s", name);
  }
  if (!is_inside(path)) path[0] = 0;
}

// Writes down what happened to an open file.
static void record_write(int file, off_t offset, const void *bytes, ssize_t done)
{
  char path[PATH_MAX];
  struct stat status;
  inside_path(file, path);
  if (done <= 0 || !path[0] || examine(file, &status) != 0) return;
  put_line("w\t%ju\t%jd\t%zd\n", (uintmax_t)status.st_ino, (intmax_t)offset, done);
  put(bytes, (size_t)done);
  put("\n", 1);
}

static void record_file(const char *what, int file, off_t size)
{
  char path[PATH_MAX];
  struct stat status;
  inside_path(file, path);
  if (!path[0] || examine(file, &status) != 0) return;
  if (size < 0) put_line("%s\t%ju\n", what, (uintmax_t)status.st_ino);
  else put_line("%s\t%ju\t%jd\n", what, (uintmax_t)status.st_ino, (intmax_t)size);
}

// Writes down a file that was opened, if that made or emptied it.
static void record_opening(int file, int flags, bool isNew)
{
  char path[PATH_MAX];
  struct stat status;
  if (file < 0 || !(flags & (O_CREAT | O_TRUNC))) return;
  inside_path(file, path);
  if (!path[0] || examine(file, &status) != 0) return;
  if (isNew) put_line("c\t%ju\t%s\n", (uintmax_t)status.st_ino, path);
  else if (flags & O_TRUNC) put_line("t\t%ju\t0\n", (uintmax_t)status.st_ino);
}

static void record_names(
  const char *what, int from, const char *old, int to, const char *new)
{
  char first[PATH_MAX], second[PATH_MAX];
  whole_path(from, old, first);
  if (new) whole_path(to, new, second);
  if (first[0] && !new) put_line("%s\t%s\n", what, first);
  else if (first[0] && second[0]) put_line("%s\t%s\t%s\n", what, first, second);
}

// A call on a name that succeeds or fails as a whole.
#define NAMED(kind, name, parameters, directory, path, arguments) \
  int name parameters \
  { \
    typedef int (*call) parameters; \
    SYSTEM(name, call); \
    if (meet_name(kind, directory, path) != FaultyFilesNot) return refuse(); \
    return system_##name arguments; \
  }

// A call that changes a name, which is written down.
#define RENAMING(kind, name, parameters, what, from, old, to, new, arguments) \
  int name parameters \
  { \
    typedef int (*call) parameters; \
    SYSTEM(name, call); \
    if (meet_name(kind, to, new ? new : old) != FaultyFilesNot) return refuse(); \
    bool isRecorded = begin_recording(); \
    if (filling) forget(new ? new : old); \
    int code = system_##name arguments; \
    int failure = errno; \
    if (isRecorded && code == 0) record_names(what, from, old, to, new); \
    end_recording(isRecorded); \
    errno = failure; \
    return code; \
  }

// A call on an open file that succeeds or fails as a whole.
#define ON_FILE(kind, name, parameters, file, arguments) \
  int name parameters \
  { \
    typedef int (*call) parameters; \
    SYSTEM(name, call); \
    if (meet_file(kind, file) != FaultyFilesNot) return refuse(); \
    return system_##name arguments; \
  }

#define SYNCING(name) \
  int name(int file) \
  { \
    typedef int (*call)(int); \
    SYSTEM(name, call); \
    if (meet_file(FaultyFilesSync, file) != FaultyFilesNot) return refuse(); \
    bool isRecorded = begin_recording(); \
    int code = system_##name(file); \
    int failure = errno; \
    if (isRecorded && code == 0) record_file("s", file, -1); \
    end_recording(isRecorded); \
    errno = failure; \
    return code; \
  }

// A call that moves bytes.
#define MOVING(kind, name, parameters, whole, part) \
  ssize_t name parameters \
  { \
    typedef ssize_t (*call) parameters; \
    SYSTEM(name, call); \
    switch (meet_file(kind, file)) { \
    case FaultyFilesNot: return system_##name whole; \
    case FaultyFilesError: return refuse(); \
    default: return system_##name part; \
    } \
  }

#define OPENING(name) \
  int name(const char *path, int flags, ...) \
  { \
    typedef int (*call)(const char *, int, ...); \
    SYSTEM(name, call); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    if (meet_name(FaultyFilesOpen, AT_FDCWD, path) != FaultyFilesNot) return refuse(); \
    bool isRecorded = begin_recording(); \
    struct stat status; \
    bool isNew = isRecorded && examine_name(path, &status) != 0; \
    int file = system_##name(path, flags, mode); \
    int failure = errno; \
    if (isRecorded) record_opening(file, flags, isNew); \
    end_recording(isRecorded); \
    errno = failure; \
    return file; \
  }

#define OPENING_AT(name) \
  int name(int directory, const char *path, int flags, ...) \
  { \
    typedef int (*call)(int, const char *, int, ...); \
    SYSTEM(name, call); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    if (meet_name(FaultyFilesOpen, directory, path) != FaultyFilesNot) return refuse(); \
    return system_##name(directory, path, flags, mode); \
  }

// Only to take a lock fails; to give one back does not.
#define CONTROLLING(name) \
  int name(int file, int command, ...) \
  { \
    typedef int (*call)(int, int, ...); \
    SYSTEM(name, call); \
    va_list rest; \
    va_start(rest, command); \
    void *argument = va_arg(rest, void *); \
    va_end(rest); \
    if (command == F_SETLK || command == F_SETLKW) { \
      const struct flock *lock = argument; \
      if (lock->l_type != F_UNLCK && meet_file(FaultyFilesLock, file) != FaultyFilesNot) \
        return refuse(); \
    } \
    return system_##name(file, command, argument); \
  }

OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)
NAMED(FaultyFilesOpen, creat, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))

MOVING(
  FaultyFilesRead, read, (int file, void *bytes, size_t size), (file, bytes, size),
  (file, bytes, half(size)))
MOVING(
  FaultyFilesRead, pread, (int file, void *bytes, size_t size, off_t offset),
  (file, bytes, size, offset), (file, bytes, half(size), offset))
MOVING(
  FaultyFilesRead, pread64, (int file, void *bytes, size_t size, off64_t offset),
  (file, bytes, size, offset), (file, bytes, half(size), offset))
#define WRITING(name, parameters, offset, whole, part) \
  ssize_t name parameters \
  { \
    typedef ssize_t (*call) parameters; \
    SYSTEM(name, call); \
    switch (meet_file(FaultyFilesWrite, file)) { \
    case FaultyFilesNot: break; \
    case FaultyFilesError: return refuse(); \
    default: return system_##name part; \
    } \
    size_t fitting = filling ? grow(file, offset, size) : size; \
    if (fitting == 0 && size > 0) { \
      errno = ENOSPC; \
      return -1; \
    } \
    size = fitting; \
    bool isRecorded = begin_recording(); \
    off_t start = isRecorded ? (off_t)(offset) : 0; \
    ssize_t done = system_##name whole; \
    int failure = errno; \
    if (isRecorded) record_write(file, start, bytes, done); \
    end_recording(isRecorded); \
    errno = failure; \
    return done; \
  }

WRITING(
  write, (int file, const void *bytes, size_t size), lseek(file, 0, SEEK_CUR), (file, bytes, size),
  (file, bytes, half(size)))
WRITING(
  pwrite, (int file, const void *bytes, size_t size, off_t offset), offset,
  (file, bytes, size, offset), (file, bytes, half(size), offset))
WRITING(
  pwrite64, (int file, const void *bytes, size_t size, off64_t offset), offset,
  (file, bytes, size, offset), (file, bytes, half(size), offset))

#define ALLOCATING(name, integer) \
  int name(int file, int mode, integer offset, integer size) \
  { \
    typedef int (*call)(int, int, integer, integer); \
    SYSTEM(name, call); \
    if (meet_file(FaultyFilesWrite, file) != FaultyFilesNot) return refuse(); \
    if (!reserve(file, mode, offset + size)) { \
      errno = ENOSPC; \
      return -1; \
    } \
    return system_##name(file, mode, offset, size); \
  }

// Takes the room up to `end`, or gives back what lies beyond the length.
static bool reserve(int file, int mode, off_t end)
{
  bool fits = true;
  pthread_mutex_lock(&mutex);
  struct stat status;
  if (is_filling_file(file) && examine(file, &status) == 0) {
    bool isGivenBack = mode & FALLOC_FL_PUNCH_HOLE;
    long more = isGivenBack ? blocks(status.st_size) - allocated(&status)
      : blocks(end) - allocated(&status);
    off_t *known = reserved_end(status.st_ino);
    fits = more <= room && known;
    if (fits && (more > 0 || isGivenBack)) {
      room -= more;
      *known = isGivenBack ? 0 : end;
    }
  }
  pthread_mutex_unlock(&mutex);
  return fits;
}

ALLOCATING(fallocate, off_t)
ALLOCATING(fallocate64, off64_t)

SYNCING(fsync)
SYNCING(fdatasync)
// What is cut off, and what was allocated behind it, makes room.
static void shrink(int file, off_t size)
{
  pthread_mutex_lock(&mutex);
  struct stat status;
  if (is_filling_file(file) && examine(file, &status) == 0) {
    room += allocated(&status) - blocks(size);
    off_t *end = reserved_end(status.st_ino);
    if (end) *end = 0;
  }
  pthread_mutex_unlock(&mutex);
}

#define TRUNCATING(name, integer) \
  int name(int file, integer size) \
  { \
    typedef int (*call)(int, integer); \
    SYSTEM(name, call); \
    if (meet_file(FaultyFilesTruncate, file) != FaultyFilesNot) return refuse(); \
    if (filling) shrink(file, size); \
    bool isRecorded = begin_recording(); \
    int code = system_##name(file, size); \
    int failure = errno; \
    if (isRecorded && code == 0) record_file("t", file, size); \
    end_recording(isRecorded); \
    errno = failure; \
    return code; \
  }

TRUNCATING(ftruncate, off_t)
TRUNCATING(ftruncate64, off64_t)

RENAMING(
  FaultyFilesRename, rename, (const char *old, const char *new), "r", AT_FDCWD, old, AT_FDCWD, new,
  (old, new))
RENAMING(
  FaultyFilesRename, renameat, (int from, const char *old, int to, const char *new), "r", from, old,
  to, new, (from, old, to, new))
RENAMING(
  FaultyFilesLink, link, (const char *old, const char *new), "l", AT_FDCWD, old, AT_FDCWD, new,
  (old, new))
static const char *const none = NULL;

RENAMING(
  FaultyFilesRemove, unlink, (const char *path), "u", AT_FDCWD, path, AT_FDCWD, none, (path))
RENAMING(
  FaultyFilesRemove, rmdir, (const char *path), "u", AT_FDCWD, path, AT_FDCWD, none, (path))

int unlinkat(int directory, const char *path, int flags)
{
  typedef int (*call)(int, const char *, int);
  SYSTEM(unlinkat, call);
  if (meet_name(FaultyFilesRemove, directory, path) != FaultyFilesNot) return refuse();
  char whole[PATH_MAX];
  whole_path(directory, path, whole);
  if (filling && whole[0]) forget(whole);
  bool isRecorded = begin_recording();
  int code = system_unlinkat(directory, path, flags);
  int failure = errno;
  if (isRecorded && code == 0) record_names("u", directory, path, AT_FDCWD, NULL);
  end_recording(isRecorded);
  errno = failure;
  return code;
}

int mkdir(const char *path, mode_t mode)
{
  typedef int (*call)(const char *, mode_t);
  SYSTEM(mkdir, call);
  if (meet_name(FaultyFilesFolder, AT_FDCWD, path) != FaultyFilesNot) return refuse();
  struct stat status;
  bool isFull = filling && strncmp(path, folder, folder_length) == 0 && room < 1
    && examine_name(path, &status) != 0;
  if (isFull) {
    errno = ENOSPC;
    return -1;
  }
  bool isRecorded = begin_recording();
  int code = system_mkdir(path, mode);
  int failure = errno;
  if (isRecorded && code == 0 && is_inside(path) && examine_name(path, &status) == 0)
    put_line("m\t%ju\t%s\n", (uintmax_t)status.st_ino, path);
  end_recording(isRecorded);
  errno = failure;
  return code;
}


CONTROLLING(fcntl)
CONTROLLING(fcntl64)

int flock(int file, int operation)
{
  typedef int (*call)(int, int);
  SYSTEM(flock, call);
  if (!(operation & LOCK_UN) && meet_file(FaultyFilesLock, file) != FaultyFilesNot)
    return refuse();
  return system_flock(file, operation);
}

NAMED(FaultyFilesExamine, access, (const char *path, int mode), AT_FDCWD, path, (path, mode))
NAMED(
  FaultyFilesExamine, stat, (const char *path, struct stat *status), AT_FDCWD, path,
  (path, status))
NAMED(
  FaultyFilesExamine, stat64, (const char *path, struct stat64 *status), AT_FDCWD, path,
  (path, status))
NAMED(
  FaultyFilesExamine, lstat, (const char *path, struct stat *status), AT_FDCWD, path,
  (path, status))
NAMED(
  FaultyFilesExamine, lstat64, (const char *path, struct stat64 *status), AT_FDCWD, path,
  (path, status))
ON_FILE(FaultyFilesExamine, fstat, (int file, struct stat *status), file, (file, status))
ON_FILE(FaultyFilesExamine, fstat64, (int file, struct stat64 *status), file, (file, status))

#endif
