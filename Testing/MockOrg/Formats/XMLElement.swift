/// An element of an XML text with what stands inside it: enough of XML for SOAP calls, jobs of the Bulk
/// API and metadata files. Names are kept without their prefix; document types, processing instructions
/// and comments are passed over, entities other than the five of XML are left as they stand.
struct XMLElement: Sendable {
  let name: String
  let attributes: [String: String]
  /// The text directly inside, without blanks at its ends.
  private(set) var text = ""
  private(set) var children: [XMLElement] = []

  /// The first child of a name.
  subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  /// All children of a name.
  func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

  /// The first element of a name here or anywhere below.
  func first(_ name: String) -> XMLElement? {
    if self.name == name { return self }
    for child in children {
      if let found = child.first(name) { return found }
    }
    return nil
  }

  /// Reads the root element of a text.
  ///
  /// - Returns: nil if the text is not well-formed.
  init?(parsing text: [UInt8]) {
    var reader = XMLReader(text)
    guard let root = reader.root() else { return nil }
    self = root
  }

  fileprivate init(name: String, attributes: [String: String]) {
    self.name = name
    self.attributes = attributes
  }

  fileprivate mutating func append(_ child: XMLElement) { children.append(child) }

  fileprivate mutating func close(text: String) { self.text = text.trimmingBlanks() }
}

/// Reads XML from left to right.
private struct XMLReader {
  /// Beyond this depth a text is taken for an attack on the stack.
  private static let greatestDepth = 100
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func root() -> XMLElement? {
    skipMisc()
    return element(depth: 0)
  }

  private mutating func element(depth: Int) -> XMLElement? {
    guard depth < Self.greatestDepth, take("<"), let name = name() else { return nil }
    var attributes: [String: String] = [:]
    while true {
      skipBlanks()
      if take("/>") { return XMLElement(name: Self.local(name), attributes: attributes) }
      if take(">") { break }
      guard let key = self.name() else { return nil }
      skipBlanks()
      guard take("=") else { return nil }
      skipBlanks()
      guard let quote = current, quote == 0x22 || quote == 0x27 else { return nil }
      position += 1
      let start = position
      while let byte = current, byte != quote { position += 1 }
      guard position < bytes.count else { return nil }
      attributes[Self.local(key)] = XMLText.unescaped(
        String(decoding: bytes[start..<position], as: UTF8.self))
      position += 1
    }
    var element = XMLElement(name: Self.local(name), attributes: attributes)
    var text = ""
    while position < bytes.count {
      let start = position
      while let byte = current, byte != UInt8(ascii: "<") { position += 1 }
      text += XMLText.unescaped(String(decoding: bytes[start..<position], as: UTF8.self))
      if take("</") {
        guard self.name() == name else { return nil }
        skipBlanks()
        guard take(">") else { return nil }
        element.close(text: text)
        return element
      }
      if take("<![CDATA[") {
        guard let end = find("]]>") else { return nil }
        text += String(decoding: bytes[position..<end], as: UTF8.self)
        position = end + 3
      } else if skipMisc() {
        continue
      } else {
        guard let child = self.element(depth: depth + 1) else { return nil }
        element.append(child)
      }
    }
    return nil
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private static func local(_ name: String) -> String {
    String(name.split(separator: ":").last ?? "")
  }

  private mutating func name() -> String? {
    let start = position
    while let byte = current, byte > 0x20, !Self.endsName(byte) { position += 1 }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  private static func endsName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="),
      UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "?"), UInt8(ascii: "!"):
      true
    default: false
    }
  }

  private mutating func skipBlanks() {
    while let byte = current, byte <= 0x20 { position += 1 }
  }

  /// Passes over blanks, comments, instructions and document types; true if there was one that is no
  /// blank.
  @discardableResult
  private mutating func skipMisc() -> Bool {
    var skipped = false
    if bytes[position...].starts(with: [0xef, 0xbb, 0xbf]) { position += 3 }
    while true {
      let start = position
      skipBlanks()
      let end: (Int, Int)?
      if take("<?") {
        end = find("?>").map { ($0, 2) }
      } else if take("<!--") {
        end = find("-->").map { ($0, 3) }
      } else if peek("<!"), !peek("<![CDATA[") {
        end = find(">").map { ($0, 1) }
      } else {
        if skipped || position == start { return skipped }
        if !peek("<") { position = start }
        return false
      }
      guard let (place, length) = end else {
        position = bytes.count
        return true
      }
      position = place + length
      skipped = true
    }
  }

  private func peek(_ text: StaticString) -> Bool {
    isAt(position, text)
  }

  private mutating func take(_ text: StaticString) -> Bool {
    guard peek(text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  private func find(_ text: StaticString) -> Int? {
    var start = position
    while start < bytes.count {
      if isAt(start, text) { return start }
      start += 1
    }
    return nil
  }

  /// Whether `text`, which is ASCII, stands at an offset. It compares bytes in place, without a slice for each.
  private func isAt(_ start: Int, _ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard start + count <= bytes.count else { return false }
    for index in 0..<count where bytes[start + index] != text.utf8Start[index] { return false }
    return true
  }
}

/// Text inside XML.
enum XMLText {
  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  static func unescaped(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&apos;", with: "'").replacing("&#39;", with: "'")
      .replacing("&amp;", with: "&")
  }

  /// `<name>text</name>`.
  static func element(_ name: String, _ text: String) -> String {
    "<\(name)>\(escaped(text))</\(name)>"
  }
}
