#if os(Linux)
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif
#endif

/// The process that holds a ``FileLock``, for a message.
package enum FileLockHolder {
  /// Returns the id of a process that holds the lock on the file at `path`.
  ///
  /// Linux lists locks with their processes in `/proc/locks`. Other systems do not say: the result is nil, as it is for
  /// a lock of another container, and for one that is free by now.
  package static func process(of path: String) -> Int32? {
    #if os(Linux)
      var status = stat()
      guard stat(path, &status) == 0, let locks = fopen("/proc/locks", "re") else { return nil }
      defer { fclose(locks) }
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, Int32(line.count), locks) != nil {
        // `1: FLOCK  ADVISORY  WRITE 4711 fe:01:131097 0 EOF`, the device in hexadecimal numbers.
        let words = String(
          decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self
        )
        .split(whereSeparator: \.isWhitespace)
        guard words.count > 5, words[1] == "FLOCK", let process = Int32(words[4]), process > 0,
          let number = words[5].split(separator: ":").last.flatMap({ UInt64($0) }),
          number == UInt64(status.st_ino)
        else { continue }
        return process
      }
      return nil
    #else
      return nil
    #endif
  }
}
