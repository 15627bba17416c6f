public import SalesforceSDKCore

extension DeveloperInfo {
  /// Adds the section `SmartStore` with the engine and the names of the stores (SS-218). Opens and creates nothing.
  ///
  /// - Parameter owner: The current user; without one no user stores are listed.
  /// - Throws: ``SmartStoreError`` `io` if the folders cannot be listed.
  public mutating func append(
    storesOf manager: SmartStoreManager, forUserAccount owner: StoreOwner?
  ) throws(SmartStoreError) {
    append(
      flat: try manager.developerInformation(forUserAccount: owner).flatMap { [$0.name, $0.value] })
  }
}
