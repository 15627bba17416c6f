/// Writes values in the little-endian form of the wire.
struct DBusWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: DBusValue) {
    switch value {
    case .byte(let value): bytes.append(value)
    case .bool(let value): number(UInt32(value ? 1 : 0))
    case .int16(let value): number(UInt16(bitPattern: value))
    case .uint16(let value): number(value)
    case .int32(let value): number(UInt32(bitPattern: value))
    case .uint32(let value): number(value)
    case .int64(let value): number(UInt64(bitPattern: value))
    case .uint64(let value): number(value)
    case .double(let value): number(value.bitPattern)
    case .string(let text), .objectPath(let text):
      number(UInt32(text.utf8.count))
      bytes += text.utf8
      bytes.append(0)
    case .signature(let text): signature(text)
    case .bytes(let values):
      number(UInt32(values.count))
      bytes += values
    case .array(let element, let values):
      array(alignment: DBusSignature.alignment(of: element)) { writer in
        for value in values { writer.write(value) }
      }
    case .dictionary(_, _, let pairs):
      array(alignment: 8) { writer in
        for (key, value) in pairs {
          writer.align(8)
          writer.write(key)
          writer.write(value)
        }
      }
    case .structure(let members):
      align(8)
      for member in members { write(member) }
    case .variant(let value):
      signature(value.signature)
      write(value)
    }
  }

  mutating func align(_ alignment: Int) {
    while bytes.count % alignment != 0 { bytes.append(0) }
  }

  private mutating func number<Number: FixedWidthInteger>(_ number: Number) {
    align(MemoryLayout<Number>.size)
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }

  private mutating func signature(_ text: String) {
    bytes.append(UInt8(text.utf8.count))
    bytes += text.utf8
    bytes.append(0)
  }

  /// An array's length does not count the padding before its first element.
  private mutating func array(alignment: Int, _ elements: (inout DBusWriter) -> Void) {
    number(UInt32(0))
    let length = bytes.count - 4
    align(alignment)
    let start = bytes.count
    elements(&self)
    withUnsafeBytes(of: UInt32(bytes.count - start).littleEndian) { count in
      for (offset, byte) in count.enumerated() { bytes[length + offset] = byte }
    }
  }
}
