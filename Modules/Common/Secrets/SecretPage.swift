import ProcessSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A few secret bytes in a page of memory of their own.
///
/// Where the system allows it, the page is never swapped out, core dumps leave it out, and a child process that is
/// forked finds zeros. It is overwritten before it is returned to the system.
final class SecretPage: @unchecked Sendable {
  // Because: written in `init` alone, and freed in `deinit`.
  private let start: UnsafeMutableRawPointer
  private let count: Int
  private let length: Int
  private let isMapped: Bool

  init(_ bytes: [UInt8]) {
    count = bytes.count
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    length = max(1, (count + page - 1) / page) * page
    let map = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | mapAnonymous, -1, 0)
    if let map, map != UnsafeMutableRawPointer(bitPattern: -1) {
      (start, isMapped) = (map, true)
      // Refused beyond the limit of locked memory (`ulimit -l`): then the page may be swapped out.
      _ = mlock(map, length)
      #if os(Linux)
        _ = madvise(map, length, Self.dontDump)
        _ = madvise(map, length, Self.wipeOnFork)
      #endif
    } else {
      start = .allocate(byteCount: length, alignment: 16)
      isMapped = false
    }
    bytes.withUnsafeBytes {
      start.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(start), byteCount: count)
    }
  }

  /// A copy in ordinary memory.
  var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }

  deinit {
    process_clear(start, count)
    if isMapped { munmap(start, length) } else { start.deallocate() }
  }

  #if os(Linux)
    /// `MADV_DONTDUMP` and `MADV_WIPEONFORK`, which Swift does not import.
    private static let dontDump: Int32 = 16
    private static let wipeOnFork: Int32 = 18
  #endif
}

#if canImport(Darwin)
  private let mapAnonymous = MAP_ANON
#else
  private let mapAnonymous = Int32(MAP_ANONYMOUS)
#endif
