/// Notices that a series of values, such as the cursors of pages, goes in a circle.
///
/// It keeps one earlier value, however long the series is, and compares each value with it. The kept value is
/// replaced after 1, 2, 4, 8, … values, so that it stands in the circle at some time and for long enough
/// (Brent's algorithm): a cycle of n values that begins after m is noticed within 4·(m + n) values.
package struct CircleDetector<Value: Equatable> {
  private var kept: Value?
  private var age = 0
  private var lifetime = 1

  package init() {}

  /// Adds the next value.
  ///
  /// - Returns: Whether it is one that came earlier.
  package mutating func returns(to value: Value) -> Bool {
    if value == kept { return true }
    age += 1
    if kept == nil || age == lifetime {
      if kept != nil { lifetime *= 2 }
      kept = value
      age = 0
    }
    return false
  }
}

extension CircleDetector: Sendable where Value: Sendable {}
