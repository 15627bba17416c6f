import Foundation
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// What is kept of a response for a slow reader.
@Suite struct DiskBufferTests {
  @Test(arguments: UInt64(1)...8)
  func `whatever the sizes, bytes come out in order`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: seed)
    var diskBuffer = DiskBuffer(in: folder.url, memoryLimit: 100_000)
    var put = 0
    var taken = 0
    func check(_ piece: [UInt8]) {
      let isInOrder = Data(piece) == Self.bytes(taken, piece.count)
      #expect(isInOrder)
      taken += piece.count
    }
    for _ in 0..<120 {
      // Readers that are faster than the sender for a while, and slower for another.
      let appends = Int.random(in: 0...6, using: &random)
      for _ in 0..<appends {
        let count = Int.random(in: 0...40_000, using: &random)
        try diskBuffer.append(Self.bytes(put, count))
        put += count
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        guard let piece = try diskBuffer.next() else { break }
        #expect(!piece.isEmpty)
        check(piece)
      }
    }
    while let piece = try diskBuffer.next() { check(piece) }
    #expect(taken == put)
    #expect(diskBuffer.isEmpty)
    #expect(try diskBuffer.next() == nil)
    diskBuffer.clear()
    #expect(diskBuffer.isEmpty)
  }

  /// As many bytes as one piece has at most, twice, in no order: what follows an offset is found nowhere else.
  private static let pattern: Data = {
    var random = SeededGenerator(seed: 1)
    let half = Data((0..<200_003).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    return half + half
  }()

  /// The bytes of an endless response from an offset on; at most 200,003.
  private static func bytes(_ offset: Int, _ count: Int) -> Data {
    let start = offset % (pattern.count / 2)
    return Data(pattern[start..<(start + count)])
  }

  #if os(Linux)
    @Test func `on disk is no name, and no byte of the response`() throws {
      let folder = try TemporaryFolder()
      var diskBuffer = DiskBuffer(in: folder.url, memoryLimit: 1000)
      let secret = Array("00D-session-token-of-somebody ".utf8)
      for _ in 0..<10_000 { try diskBuffer.append(Data(secret)) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
      // The system still lists the file among those that are open.
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .map { "/proc/self/fd/\($0)" }
        .filter {
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: $0)
          return target?.contains(folder.url.lastPathComponent) == true
        }
      let path = try #require(open.first)
      #expect(open.count == 1)
      let bytes = try Data(contentsOf: URL(filePath: path))
      #expect(bytes.count > 200_000)
      #expect(bytes.range(of: Data(secret)) == nil)
      #expect(bytes.range(of: Data("token".utf8)) == nil)
    }

    @Test func `what was changed on disk is noticed`() throws {
      let folder = try TemporaryFolder()
      var diskBuffer = DiskBuffer(in: folder.url, memoryLimit: 0)
      try diskBuffer.append(Data(count: 200_000))
      let path = try #require(
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
          .map { "/proc/self/fd/\($0)" }
          .first {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: $0)
            return target?.contains(folder.url.lastPathComponent) == true
          })
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data([1, 2, 3]))
      try file.close()
      #expect(throws: TransportError.self) { try diskBuffer.next() }
    }
  #endif

  @Test func `a folder that is missing or full is a typed error`() throws {
    let folder = try TemporaryFolder()
    var diskBuffer = DiskBuffer(in: folder.file("missing"), memoryLimit: 10)
    let error = #expect(throws: TransportError.self) { try diskBuffer.append(Data(count: 70_000)) }
    #expect(error?.code == .noRoom)
  }
}
