import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A program of this package that runs during the tests until it is killed.
///
/// Started with `posix_spawn`, which shares nothing with the test's threads; its standard output is
/// a pipe, which keeps what the process said before its end.
final class ChildProcess {
  let id: pid_t
  private let output: Int32
  private var unread: [UInt8] = []
  private var hasEnded = false

  /// Starts the program `name`, which lies next to the tests.
  init(_ name: String, _ arguments: [String]) throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    // Other processes that start in the meantime must not keep the pipe open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    let path = try Self.folder().appending(path: name).path
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var id = pid_t()
    let code = posix_spawn(&id, path, &actions, nil, &words, &environment)
    close(ends[1])
    guard code == 0 else {
      close(ends[0])
      throw CocoaError(
        .executableLoad, userInfo: [NSFilePathErrorKey: path, "errno": "\(code)"])
    }
    self.id = id
    output = ends[0]
  }

  deinit {
    if !hasEnded {
      sendKill(id)
      var status: Int32 = 0
      waitpid(id, &status, 0)
    }
    close(output)
  }

  /// Waits for the next line; nil at the end.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      unread += buffer[..<count]
    }
  }

  /// Kills the process; what it said can still be read.
  ///
  /// - Returns: Whether it ended that way and not by itself.
  func kill() -> Bool {
    sendKill(id)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    hasEnded = true
    return status & 0x7F == SIGKILL
  }

  /// Where the package's programs lie: next to the tests.
  private static func folder() throws -> URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let tests = try #require(bundle ?? Bundle.main.executableURL)
    return tests.deletingLastPathComponent()
  }
}

// Inside the type this name is its own method.
private func sendKill(_ id: pid_t) { _ = kill(id, SIGKILL) }
