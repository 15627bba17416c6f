import Foundation
import Testing

@testable import SmartStore

/// Is a nonce used once, whatever processes share the memory that it was read into?
@Suite struct NoncePoolTests {
  /// The nonces of a pool in shared memory: one of the child of a fork, then one of this process.
  private func nonces(afterUses uses: Int) throws -> (child: [UInt8], parent: [UInt8]) {
    let size = PageFormat.nonceSize
    let shared = try #require(
      mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
    defer { munmap(shared, 4096) }
    let pool = UnsafeMutablePointer<NoncePool>.allocate(capacity: 1)
    pool.initialize(to: NoncePool())
    defer {
      pool.deinitialize(count: 1)
      pool.deallocate()
    }
    for _ in 0..<uses {
      let isTaken = pool.pointee.take(into: shared)
      try #require(isTaken)
    }
    // Swift does not import `fork` on every system.
    let fork = unsafeBitCast(
      try #require(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
    let child = fork()
    if child == 0 {
      _exit(pool.pointee.take(into: shared) ? 0 : 1)
    }
    try #require(child > 0)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 { try #require(errno == EINTR) }
    try #require(status == 0)
    let isTaken = pool.pointee.take(into: shared + size)
    try #require(isTaken)
    let bytes = UnsafeRawBufferPointer(start: shared, count: 2 * size)
    return (Array(bytes.prefix(size)), Array(bytes.suffix(size)))
  }

  @Test(arguments: [1, 2, 100])
  func `a child process never uses a nonce of its parent`(uses: Int) throws {
    let (child, parent) = try nonces(afterUses: uses)
    #expect(child != parent)
    #expect(child.contains { $0 != 0 } && parent.contains { $0 != 0 })
  }
}
