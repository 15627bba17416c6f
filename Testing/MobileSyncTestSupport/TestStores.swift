public import struct Foundation.URL
public import SmartStore

/// Stores for tests.
public enum TestStores: Sendable {
  /// Opens a plaintext store, which is faster and easy to inspect.
  public static func open(in folder: URL) async throws -> SmartStore {
    try await SmartStore.open(at: folder, encryption: .plaintext)
  }
}

extension SmartStore {
  /// Registers a soup `apex` whose id field is `Key`.
  public func registerSoupForApex() async throws {
    try await registerSoup(
      withName: "apex",
      withIndices: [
        SoupIndex(path: "Key", type: .string), SoupIndex(path: "__local__", type: .string),
      ])
  }
}
