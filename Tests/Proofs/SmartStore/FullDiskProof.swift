import Foundation
import TestSupport
import Testing
@testable import SmartStoreTests

#if os(Linux)
  /// Can an alter undo itself wherever the disk becomes full?
  ///
  /// The alters are made by a program of its own, whose disk has so much room and no more. See
  /// `FullSession`.
  @Suite(.ownThreads) struct FullDiskProof {
    @Test(.covers("SS-183"))
    func `an alter on a disk that becomes full at any point leaves the soup as it was`()
      throws
    {
      let folder = try TemporaryFolder(inMemory: true)
      let step = max(4096, (48 << 10) / Effort.factor)
      let child = try ChildProcess("StoreFaultChild", ["full", folder.url.path, "\(step)"])
      var failures: [String: Int] = [:]
      while let line = child.line() {
        let words = line.split(separator: " ")
        if words.count == 3, words[0] == "altered", let failed = Int(words[2]) {
          failures[String(words[1])] = failed
        } else {
          Issue.record("\(line)")
        }
      }
      #expect(failures.count == 4)
      #expect(failures.values.allSatisfy { $0 > 3 })
    }
  }
#endif
