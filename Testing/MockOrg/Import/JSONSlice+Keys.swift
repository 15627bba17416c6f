import SalesforceSDKCommon

extension JSONSlice {
  /// Checks that an object in a file has no members but known ones: a misspelt one would be passed over.
  ///
  /// - Parameter what: What the object is, for the message.
  /// - Throws: ``MockOrgError`` `invalidData`.
  func check(keys: Set<String>, of what: String) throws(MockOrgError) {
    guard let unknown = members.first(where: { !keys.contains($0.key) })?.key else { return }
    throw MockOrgError(
      .invalidData,
      "\(what) has the member '\(unknown)', which is unknown here. Known are "
        + "\(keys.sorted().joined(separator: ", ")).")
  }
}
