import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The number of files that this process has open under a name: to see that a task waits for a lock on it.
public func openFiles(at path: String) -> Int {
  var named = stat()
  guard stat(path, &named) == 0 else { return 0 }
  // Other tests have hundreds open at the same time, so that numbers have no bound worth naming.
  let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
  return numbers.compactMap { Int32($0) }.count { number in
    var status = stat()
    return fstat(number, &status) == 0 && status.st_ino == named.st_ino
      && status.st_dev == named.st_dev
  }
}
