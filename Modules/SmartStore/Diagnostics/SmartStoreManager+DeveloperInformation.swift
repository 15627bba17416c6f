extension SmartStoreManager {
  /// One line of the information for developers: a name and its value.
  public struct DeveloperInformation: Sendable, Equatable {
    /// The name; `section:SmartStore` begins the section and has no value.
    public let name: String
    public let value: String
  }

  /// The name of the developer's action that opens the inspector.
  public static let inspectAction = "Inspect SmartStore"

  /// Information about the engine and the stores, for a developer's menu or a bug report, in a fixed order.
  /// Opens and creates nothing.
  ///
  /// - Parameter owner: The current user; without one no user stores are listed.
  /// - Throws: ``SmartStoreError`` `io` if the folders cannot be listed.
  public nonisolated func developerInformation(
    forUserAccount owner: StoreOwner?
  ) throws(SmartStoreError) -> [DeveloperInformation] {
    func line(_ name: String, _ value: String) -> DeveloperInformation {
      DeveloperInformation(name: name, value: value)
    }
    return [
      line("section:SmartStore", ""),
      line("SQLCipher version", SmartStore.versionOfSQLCipher()),
      line("SQLCipher Compile Options", SmartStore.compileOptions().joined(separator: ", ")),
      line("SQLCipher Runtime Settings", SmartStore.runtimeSettings().joined(separator: " ")),
      line(
        "User SmartStores",
        try allStoreNames(forUserAccount: owner).sorted().joined(separator: ", ")),
      line("Global SmartStores", try allGlobalStoreNames().sorted().joined(separator: ", ")),
    ]
  }
}
