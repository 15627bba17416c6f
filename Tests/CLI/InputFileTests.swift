import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does a command bound what it reads of a file that the user names?
@Suite struct InputFileTests {
  /// A file of 20 GiB that takes no room on disk.
  private func sparseFile(_ folder: TemporaryFolder) throws -> String {
    let file = folder.file("sparse")
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 20 << 30)
    try handle.close()
    return file.path
  }

  @Test(.timeLimit(.minutes(1)))
  func `a file of tokens that has no end is refused at once`() async throws {
    let (tool, folder) = (try Tool(), try TemporaryFolder())
    for file in [try sparseFile(folder), "/dev/zero"] {
      let error = try await tool.failure(
        "login", "--url", "http://127.0.0.1:1", "--access-token", "@\(file)")
      #expect(error["code"] == "unreadable", "\(file)")
      #expect(error["message"]?.string?.contains("more than 1048576 bytes") == true)
    }
    // A pipe has no size, and is read.
    let result = try await tool.run(
      [
        "login", "--url", "http://127.0.0.1:1", "--access-token", "@/dev/stdin", "--json",
        "--state", tool.state.path,
      ], input: "token\n")
    #expect(try result.failure()["code"] != "unreadable")
  }

  @Test(.timeLimit(.minutes(1)))
  func `a configuration file of terabytes is refused at once`() async throws {
    let (tool, folder) = (try Tool(), try TemporaryFolder())
    let file = try sparseFile(folder)
    let result = try await tool.run(["checkconfig", "--configpath=\(file)", "--configtype=store"])
    #expect(result.status == 1)
    #expect(result.errors.contains("bytes"))
  }
}
