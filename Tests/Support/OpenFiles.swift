#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How many files this process has open under a name: to see that somebody waits for a lock on it.
public func openFiles(at path: String) -> Int {
  (0..<Int32(1024)).count { number in
    var status = stat()
    var named = stat()
    return fstat(number, &status) == 0 && stat(path, &named) == 0
      && status.st_ino == named.st_ino && status.st_dev == named.st_dev
  }
}
