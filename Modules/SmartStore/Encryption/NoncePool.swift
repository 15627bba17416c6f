import StoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A pool of random nonces, read from the system 4 KiB at a time, because a system call per page
/// costs a tenth of encrypting the page. Each nonce is erased once it is used. A process that forks
/// leaves its child a copy of the pool, which the child does not use: with a nonce that both use,
/// pages could be forged.
struct NoncePool: ~Copyable {
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
  private var next = 4096
  /// The number of forks before the bytes were read.
  private var forks: UInt32 = 0

  deinit {
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    bytes.deallocate()
  }

  /// Writes a fresh nonce to `target`; returns false if the system returns no random bytes.
  mutating func take(into target: UnsafeMutableRawPointer) -> Bool {
    let forks = store_system_forks()
    if next + PageFormat.nonceSize > bytes.count || forks != self.forks {
      guard fillWithRandomBytes(bytes) else { return false }
      next = 0
      self.forks = forks
    }
    let nonce = UnsafeMutableRawBufferPointer(rebasing: bytes[next..<next + PageFormat.nonceSize])
    UnsafeMutableRawBufferPointer(start: target, count: nonce.count)
      .copyMemory(from: UnsafeRawBufferPointer(nonce))
    nonce.initializeMemory(as: UInt8.self, repeating: 0)
    next += PageFormat.nonceSize
    return true
  }
}

/// Fills `buffer` from the system's generator; returns false if it cannot be read.
private func fillWithRandomBytes(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
  #if canImport(Darwin)
    arc4random_buf(buffer.baseAddress, buffer.count)
    return true
  #else
    // Swift does not import `getrandom`; `SystemRandomNumberGenerator` calls it for every 8 bytes.
    let device = open("/dev/urandom", O_RDONLY | O_CLOEXEC)
    guard device >= 0 else { return false }
    defer { close(device) }
    var filled = 0
    while filled < buffer.count {
      let count = read(device, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      filled += count
    }
    return true
  #endif
}
