extension StringProtocol {
  /// Whether this is the text of `secret`. It takes the same time wherever two texts of one length differ, so that
  /// the time tells a sender nothing of the secret.
  package func isEqual(toSecret secret: String) -> Bool {
    guard utf8.count == secret.utf8.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(utf8, secret.utf8) { difference |= one ^ other }
    return difference == 0
  }
}
