public import Foundation

/// A folder of a test's own, removed with all that is in it when the test lets go of it.
///
/// ```swift
/// let folder = try TemporaryFolder()
/// let store = try await SmartStore.open(in: folder.url)
/// ```
///
/// Keep it in a variable for as long as files in it are open, or use ``with(_:)``.
public final class TemporaryFolder: Sendable {
  /// The folder; it exists and is empty at first.
  public let url: URL

  /// Makes a new folder under the system's folder for temporary files.
  ///
  /// - Parameter inMemory: Whether to prefer a file system that forgets when the power fails, for
  ///   tests that write so often that they would wait for the disk alone.
  public init(inMemory: Bool = false) throws {
    let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
    let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
    url = (hasMemory ? memory : FileManager.default.temporaryDirectory)
      .appendingPathComponent("fieldforce-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The place of a file or folder inside.
  public func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// Runs `body` with a new folder that lives until it ends.
  public static func with<R>(
    _ body: (TemporaryFolder) async throws -> R
  ) async throws -> R {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await body(folder)
  }
}
