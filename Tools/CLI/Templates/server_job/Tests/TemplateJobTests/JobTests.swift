import CryptoExtras
import Foundation
import SalesforceMockOrg
import TemplateJobKit
import Testing

/// What the job does, against a mock org on a socket of this machine.
@Suite struct JobTests {
  @Test func `waiting tasks are completed, and a second run has nothing to do`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await withMockOrg { org, server in
      for status in ["Waiting on someone else", "Not Started"] {
        try await org.create("Task", ["Subject": "Call", "Status": .string(status)])
      }
      let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
      let job = try Job(
        in: folder, loginURL: server.info.url, clientId: server.info.clientId,
        username: server.info.username, key: key)
      let first = try await job.run()
      #expect(first.uploaded == 1 && first.failed == 0)
      let completed = try await org.query("SELECT Id FROM Task WHERE Status = 'Completed'")
      #expect(completed.count == 1)
      let second = try await job.run()
      #expect(second.uploaded == 0 && second.failed == 0)
    }
  }
}
