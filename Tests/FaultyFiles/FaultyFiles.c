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
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
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

// A call on a name that succeeds or fails as a whole.
#define NAMED(kind, name, parameters, directory, path, arguments) \
  int name parameters \
  { \
    typedef int (*call) parameters; \
    SYSTEM(name, call); \
    if (meet_name(kind, directory, path) != FaultyFilesNot) return refuse(); \
    return system_##name arguments; \
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
    return system_##name(path, flags, mode); \
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
    return system_##name whole; \
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

ON_FILE(FaultyFilesSync, fsync, (int file), file, (file))
ON_FILE(FaultyFilesSync, fdatasync, (int file), file, (file))
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
    return system_##name(file, size); \
  }

TRUNCATING(ftruncate, off_t)
TRUNCATING(ftruncate64, off64_t)

int rename(const char *old, const char *new)
{
  typedef int (*call)(const char *, const char *);
  SYSTEM(rename, call);
  if (meet_name(FaultyFilesRename, AT_FDCWD, new) != FaultyFilesNot) return refuse();
  forget(new);
  return system_rename(old, new);
}

NAMED(
  FaultyFilesRename, renameat, (int from, const char *old, int to, const char *new), to, new,
  (from, old, to, new))
NAMED(FaultyFilesLink, link, (const char *old, const char *new), AT_FDCWD, new, (old, new))
int unlink(const char *path)
{
  typedef int (*call)(const char *);
  SYSTEM(unlink, call);
  if (meet_name(FaultyFilesRemove, AT_FDCWD, path) != FaultyFilesNot) return refuse();
  forget(path);
  return system_unlink(path);
}

int unlinkat(int directory, const char *path, int flags)
{
  typedef int (*call)(int, const char *, int);
  SYSTEM(unlinkat, call);
  if (meet_name(FaultyFilesRemove, directory, path) != FaultyFilesNot) return refuse();
  if (filling && !(flags & AT_REMOVEDIR)) {
    char link[64], whole[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = path[0] == '/' ? 0 : readlink(link, whole, sizeof whole - 1);
    if (length < 0) length = 0;
    snprintf(
      whole + length, sizeof whole - (size_t)length, path[0] == '/' ? "%s" : "/%s", path);
    forget(whole);
  }
  return system_unlinkat(directory, path, flags);
}

NAMED(FaultyFilesRemove, rmdir, (const char *path), AT_FDCWD, path, (path))
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
  return system_mkdir(path, mode);
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
