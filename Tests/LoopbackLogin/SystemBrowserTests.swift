import Foundation
import Synchronization
import Testing
import TestSupport

@testable import LoopbackLogin

/// What a program that opens the browser is given, which every user of the machine can read.
@Suite struct SystemBrowserTests {
  private static let page =
    "https://login.example/services/oauth2/authorize?state=STATE-1&code_challenge=CHALLENGE-1&x=\"<"

  @Test func `no login address, state or challenge is in the arguments of a program`() async throws
  {
    let folder = try TemporaryFolder()
    let home = folder.file("home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    // Stands for the program that opens the browser, and for the browser, which reads the file.
    let seen = folder.file("seen")
    let script = folder.file("open-browser")
    try Data(
      """
      #!/bin/sh
      { printf '%s\\n' "$@"; stat -c %a "$1"; cat "$1"; } > '\(seen.path).new'
      mv '\(seen.path).new' '\(seen.path)'
      """.utf8
    ).write(to: script)
    chmod(script.path, 0o700)
    let url = try #require(URL(string: Self.page.replacing("\"<", with: "%22%3C")))
    let clock = HeldClock()
    let opening = Task {
      try await SystemBrowser.open(url, with: script.path, in: home, clock: clock)
    }
    await clock.isAsked.value()
    let lines = try String(contentsOf: seen, encoding: .utf8).split(separator: "\n")
    let argument = try #require(lines.first)
    #expect(lines[1] == "600")
    #expect(!argument.contains("login.example") && !argument.contains("STATE-1"))
    #expect(argument.hasPrefix(home.path))
    let html = lines.dropFirst(2).joined(separator: "\n")
    #expect(html.contains("url=https://login.example/services/oauth2/authorize?state=STATE-1&amp;"))
    // What led there is gone when the login is over.
    opening.cancel()
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
  }

  @Test func `what a program that was ended left is removed by the next login`() throws {
    let folder = try TemporaryFolder()
    let url = try #require(URL(string: Self.page.replacing("\"<", with: "")))
    let left = try RedirectPage(to: url, in: folder.url)
    let inUse = try RedirectPage(to: url, in: folder.url)
    let own = folder.file("fieldforce-login-notes.html")
    try Data().write(to: own)
    let files = FileManager.default
    for file in [left.file, own] {
      try files.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: file.path)
    }
    let next = try RedirectPage(to: url, in: folder.url)
    #expect(!files.fileExists(atPath: left.file.path))
    for file in [inUse.file, own, next.file] { #expect(files.fileExists(atPath: file.path)) }
  }

  @Test func `an address cannot break out of the page that leads to it`() throws {
    let url = try #require(URL(string: "https://a.example/?a=1&b='%22%3E%3Cscript%3E"))
    let html = RedirectPage.html(url)
    #expect(!html.contains("<script>"))
    #expect(html.contains("a=1&amp;b="))
  }
}

/// A clock whose waits end with their task alone.
private final class HeldClock: Clock {
  typealias Instant = ContinuousClock.Instant
  let isAsked = Signal()
  var now: Instant { ContinuousClock.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    isAsked.set()
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    for await _ in stream {}
    continuation.finish()
    throw CancellationError()
  }
}

private struct Signal: Sendable {
  private let once = Once<Void>()
  func set() { once.set(()) }
  func value() async { try? await once.value() }
}
