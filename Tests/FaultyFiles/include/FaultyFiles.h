#ifndef FAULTY_FILES_H
#define FAULTY_FILES_H

/// The kinds of operation that can fail.
typedef enum {
  FaultyFilesOpen,
  FaultyFilesRead,
  FaultyFilesWrite,
  FaultyFilesSync,
  FaultyFilesTruncate,
  FaultyFilesRename,
  FaultyFilesLink,
  FaultyFilesRemove,
  FaultyFilesFolder,
  FaultyFilesLock,
  FaultyFilesExamine
} FaultyFilesKind;

/// How the operation fails.
typedef enum {
  /// Not at all; operations are counted.
  FaultyFilesNot,
  /// With an error, and without effect.
  FaultyFilesError,
  /// A read or a write moves half of the bytes, as the system may at any time.
  FaultyFilesShort,
  /// A write moves half of the bytes, and the next one to the same file fails with the error.
  FaultyFilesTorn,
  /// With an error, and so does every later operation of the kind.
  FaultyFilesLasting
} FaultyFilesForm;

/// Counts the operations on `folder` and what is below it from zero, and fails number `number` of
/// `kind` once, whichever thread does it.
void faulty_files_arm(
  const char *folder, FaultyFilesKind kind, FaultyFilesForm form, int error, long number);

/// Lets the files in `folder` and below it grow by `room` bytes together, in blocks of 4096, and refuses
/// more with ENOSPC, until the disarming. What is removed makes room.
void faulty_files_fill(const char *folder, long room);

/// Writes down in `log` what changes in `folder` and below it, in order, until the disarming:
///
/// - `w INODE OFFSET SIZE`, then so many bytes and a line end: bytes were written;
/// - `t INODE SIZE`: a file was cut or extended;
/// - `s INODE`: a file or folder was synced;
/// - `c INODE PATH`, `m INODE PATH`: a file or a folder was made;
/// - `r OLD NEW`, `l OLD NEW`, `u PATH`: a name was changed, added, removed;
/// - `n TEXT`: see faulty_files_note.
///
/// Paths follow tabs.
void faulty_files_record(const char *folder, const char *log);

/// Writes a line of the program's own into the log, if one is written.
void faulty_files_note(const char *text);

/// Fails and counts nothing any longer.
void faulty_files_disarm(void);

/// How many operations of a kind there were from the last arming to the disarming.
long faulty_files_seen(FaultyFilesKind kind);

/// The path of the operation that failed since the last arming, or NULL if none did. Valid until the
/// next arming.
const char *faulty_files_failed(void);

#endif
