import Foundation
import HybridServer
import LoopbackLogin
import SalesforceHybridSDK
import SalesforceSDKCommon
import SalesforceSDKCore

/// The other end of a window: `fieldforce-window` starts this program, and both exchange frames over the standard streams.
struct PageWindow {
  let container: HybridContainer
  let entrance: HybridServer.Window
  private let certificate: LocalCertificate

  /// - Parameters:
  ///   - socket: The file of the Unix socket for the window's engine.
  ///   - state: The folder that keeps the app's home page.
  ///   - www: The folder whose configuration says how the app starts and which origins it adds.
  init(socket: String, host: HybridHost, state: URL, www: URL?) throws {
    let container = HybridContainer(
      host: host,
      app: HybridContainer.App(
        bootConfiguration: host.app.bootConfiguration.isEmpty ? nil : host.app.bootConfiguration),
      origins: www.map { AllowedOrigins(www: $0) } ?? .standard,
      homeFile: state.appending(path: "window").appending(
        path: host.app.name.isEmpty ? "home" : "home-\(Self.fileName(host.app.name))"),
      openOutside: { url in
        do {
          try await SystemBrowser.open(url)
        } catch {
          Console.say("\(url.absoluteString) could not be opened: \(error)")
        }
      })
    self.container = container
    entrance = HybridServer.Window(socket: URL(filePath: socket)) { container.admits(origin: $0) }
    certificate = try LocalCertificate()
  }

  /// Only characters that have no meaning in a path.
  private static func fileName(_ name: String) -> String {
    String(name.unicodeScalars.map { $0.properties.isAlphabetic ? Character($0) : "-" })
  }

  /// Prints the first line, with the certificate, and exchanges frames until standard input ends.
  func serve(_ bridge: HybridBridge, _ server: HybridServer) async throws {
    guard var line = server.info.object else { return }
    line["certificate"] = .string(certificate.pem)
    let output = LineOutput()
    output.write(Array(JSONValue.object(line).text.utf8))
    let session = try bridge.connect { output.write($0) }
    container.attach(session)
    for await line in Self.inputLines() {
      do {
        try await session.receive(Array(line.utf8))
      } catch {
        Console.say("the window sent an invalid call: \(error)")
      }
    }
    session.end()
  }

  /// The lines of standard input, read on a thread of their own.
  private static func inputLines() -> AsyncStream<String> {
    AsyncStream { continuation in
      let thread = Thread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
      thread.start()
    }
  }

  /// Standard output, a whole line at a time.
  private struct LineOutput: Sendable {
    private let lock = NSLock()

    func write(_ line: [UInt8]) {
      lock.withLock { FileHandle.standardOutput.write(Data(line + [UInt8(ascii: "\n")])) }
    }
  }
}
