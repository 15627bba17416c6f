import Foundation
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

#if os(Linux)
  /// Does a change of keys or encryption that fails name the key that opens the store?
  ///
  /// The changes are made by a program of its own, which fails each of its calls on files in turn. See
  /// `KeySession`.
  @Suite(.ownThreads) struct KeyStateProof {
    /// Failures of one call that the system may not make by itself, and of all from one on.
    private static let failures = FileFaultProof.failures
      .filter { $0.form != FileFaultProof.Failure.short && $0.name != "link: EIO" }
      .flatMap { failure in
        guard failure.form == FileFaultProof.Failure.error else { return [failure] }
        var lasting = failure
        lasting.form = FileFaultProof.Failure.lasting
        return [failure, lasting]
      }

    @Test(arguments: failures)
    func `each call on a file fails, and the error names the key that opens the store`(
      failure: FileFaultProof.Failure
    ) throws {
      let folder = try TemporaryFolder(inMemory: true)
      let child = try ChildProcess(
        "StoreFaultChild",
        ["keys", folder.url.path]
          + [failure.kind, failure.form, Int(failure.errno), Effort.times(2)].map(String.init))
      var changes: [String: (failed: Int, stated: Int)] = [:]
      while let line = child.line() {
        let words = line.split(separator: " ")
        if words.count == 4, words[0] == "changed", let failed = Int(words[2]),
          let stated = Int(words[3])
        {
          changes[String(words[1])] = (failed, stated)
        } else {
          Issue.record("\(failure.name): \(line)")
        }
      }
      #expect(changes.count == 5)
      #expect(changes.values.reduce(0) { $0 + $1.failed } > 0)
    }
  }
#endif
