/// One message of the wire.
struct DBusMessage: Equatable {
  enum Kind: UInt8 { case call = 1, result, error, signal }

  var kind: Kind
  var serial: UInt32
  var replySerial: UInt32?
  var path: String?
  var interface: String?
  var member: String?
  var errorName: String?
  var destination: String?
  var sender: String?
  var body: [DBusValue] = []

  /// The bytes before the array of header fields, its length among them.
  static let startLength = 16
  /// The most bytes that are read of one message: 16 MiB.
  static let maxLength = 16 << 20

  /// The message in the form of the wire.
  var bytes: [UInt8] {
    var content = DBusWriter()
    for value in body { content.write(value) }
    var fields: [DBusValue] = []
    func field(_ code: UInt8, _ value: DBusValue?) {
      if let value { fields.append(.structure([.byte(code), .variant(value)])) }
    }
    field(1, path.map(DBusValue.objectPath))
    field(2, interface.map(DBusValue.string))
    field(3, member.map(DBusValue.string))
    field(4, errorName.map(DBusValue.string))
    field(5, replySerial.map(DBusValue.uint32))
    field(6, destination.map(DBusValue.string))
    field(7, sender.map(DBusValue.string))
    if !body.isEmpty { field(8, .signature(body.map(\.signature).joined())) }
    var writer = DBusWriter()
    for byte in [UInt8(ascii: "l"), kind.rawValue, 0, 1] { writer.write(.byte(byte)) }
    writer.write(.uint32(UInt32(content.bytes.count)))
    writer.write(.uint32(serial))
    writer.write(.array("(yv)", fields))
    writer.align(8)
    return writer.bytes + content.bytes
  }

  init(_ kind: Kind, serial: UInt32) {
    self.kind = kind
    self.serial = serial
  }

  /// The length of the message whose first ``startLength`` bytes these are.
  static func length(_ start: [UInt8]) throws(DBusError) -> Int {
    guard start.count >= startLength,
      start[0] == UInt8(ascii: "l") || start[0] == UInt8(ascii: "B"),
      start[3] == 1
    else { throw DBusReader.malformed("it does not begin like a message") }
    var reader = DBusReader(start, at: 4, isBigEndian: start[0] == UInt8(ascii: "B"))
    let numbers = try reader.values("uuu")
    guard case .uint32(let body) = numbers[0], case .uint32(let fields) = numbers[2] else {
      return 0
    }
    let header = (startLength + Int(fields) + 7) / 8 * 8
    let length = header + Int(body)
    guard length <= maxLength else { throw DBusReader.malformed("it is longer than 16 MiB") }
    return length
  }

  /// Reads a whole message; nil for one of a kind that is not known, which is to be skipped.
  init?(_ bytes: [UInt8]) throws(DBusError) {
    let total = try Self.length(bytes)
    guard total == bytes.count else { throw DBusReader.malformed("its length is wrong") }
    guard let kind = Kind(rawValue: bytes[1]) else { return nil }
    var reader = DBusReader(bytes, at: 4, isBigEndian: bytes[0] == UInt8(ascii: "B"))
    let start = try reader.values("uua(yv)")
    guard case .uint32(let serial) = start[1], case .array(_, let fields) = start[2] else {
      return nil
    }
    self.init(kind, serial: serial)
    var signature = ""
    for case .structure(let field) in fields {
      guard case .byte(let code) = field[0], case .variant(let value) = field[1] else { continue }
      switch (code, value) {
      case (1, .objectPath(let text)): path = text
      case (2, .string(let text)): interface = text
      case (3, .string(let text)): member = text
      case (4, .string(let text)): errorName = text
      case (5, .uint32(let number)): replySerial = number
      case (6, .string(let text)): destination = text
      case (7, .string(let text)): sender = text
      case (8, .signature(let text)): signature = text
      case (1...8, _): throw DBusReader.malformed("a header field has the wrong type")
      default: continue
      }
    }
    try reader.align(8)
    body = try reader.values(signature)
    guard reader.offset == bytes.count else {
      throw DBusReader.malformed("bytes follow its values")
    }
  }
}
