/// Ways to write what is UTF-8 already without making a `String` of it: a row of a database goes from
/// its columns into a response.
extension JSONWriter {
  /// Writes a string whose UTF-8 the caller vouches for.
  package mutating func string(utf8: UnsafeBufferPointer<UInt8>) {
    beginValue()
    JSONText.append(utf8: utf8, to: &bytes)
  }

  /// Writes a value made of three parts, of which the caller vouches that together they are JSON.
  package mutating func value(
    _ head: [UInt8], _ middle: UnsafeBufferPointer<UInt8>, _ tail: [UInt8]
  ) {
    beginValue()
    bytes.append(contentsOf: head)
    bytes.append(contentsOf: middle)
    bytes.append(contentsOf: tail)
  }
}
