import Foundation
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// Whether the tool is there that makes certificates and serves with them.
private let hasOpenSSL = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  .contains { access("\($0)/openssl", X_OK) == 0 }

/// What a person reads of a server whose certificate the system does not trust.
@Suite(.enabled(if: hasOpenSSL, "openssl is needed")) struct UntrustedServerTests {
  @Test(.timeLimit(.minutes(1)))
  func `a certificate that is not trusted is named, and nothing is sent`() async throws {
    let tool = try Tool()
    let folder = try TemporaryFolder()
    let (key, certificate) = (folder.file("key.pem").path, folder.file("certificate.pem").path)
    let made = try await Subprocess.run(
      .name("openssl"),
      arguments: [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
        "-days", "2", "-subj", "/CN=localhost",
      ], output: .discarded, error: .discarded)
    try #require(made.terminationStatus.isSuccess)
    _ = try await Subprocess.run(
      .name("openssl"),
      arguments: ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www"],
      input: .none, output: .sequence, error: .discarded
    ) { server in
      defer { try? server.send(signal: .kill) }
      for try await line in server.standardOutput.strings() {
        // ACCEPT 127.0.0.1:12345
        guard line.hasPrefix("ACCEPT"), let port = line.trimmed.split(separator: ":").last else {
          continue
        }
        for way in [["--access-token", "GEHEIM"], ["--device"]] {
          let result = try await tool.run(
            ["login", "--url", "https://127.0.0.1:\(port)", "--state", tool.state.path, "--json"]
              + way)
          let error = try result.failure()
          #expect(error["code"] == "untrustedServer")
          let message = try #require(error["message"]?.string)
          #expect(message.contains("certificate") && message.contains("certificate authority"))
          #expect(!message.contains("Check the network"))
        }
        return
      }
      Issue.record("The server did not start.")
    }
  }
}
