/// The parts of a `multipart/form-data` body.
enum Multipart {
  struct Part: Sendable {
    var name: String
    var fileName: String?
    var contentType: String?
    var body: [UInt8]
  }

  /// - Throws: ``ServerError`` if the body is not of that form.
  static func parts(of request: OrgRequest) throws(ServerError) -> [Part] {
    let type = request.headers["content-type"] ?? ""
    guard let boundary = parameter("boundary", of: type), !boundary.isEmpty else {
      throw ServerError("INVALID_MULTIPART_REQUEST", "The multipart body names no boundary.")
    }
    let body = request.body
    let mark = Array("--\(boundary)".utf8)
    var parts: [Part] = []
    var marks: [Int] = []
    var from = 0
    while let found = find(mark, in: body, from: from) {
      marks.append(found)
      from = found + mark.count
    }
    for (start, end) in zip(marks, marks.dropFirst()) {
      guard let part = part(Array(body[(start + mark.count)..<end])) else {
        throw ServerError("INVALID_MULTIPART_REQUEST", "A part of the multipart body has no name.")
      }
      parts.append(part)
    }
    if parts.isEmpty {
      throw ServerError("INVALID_MULTIPART_REQUEST", "The multipart body has no parts.")
    }
    return parts
  }

  /// A part from behind its boundary up to the next one.
  private static func part(_ text: [UInt8]) -> Part? {
    let isCRLF = find(Array("\r\n\r\n".utf8), in: text, from: 0)
    let isLF = find(Array("\n\n".utf8), in: text, from: 0)
    let headEnd: Int
    let bodyStart: Int
    switch (isCRLF, isLF) {
    case (let crlf?, let lf) where lf.map({ crlf < $0 }) ?? true:
      (headEnd, bodyStart) = (crlf, crlf + 4)
    case (_, let lf?): (headEnd, bodyStart) = (lf, lf + 2)
    default: return nil
    }
    var part = Part(name: "", body: Array(text[bodyStart...]))
    if part.body.suffix(2) == [0x0d, 0x0a] {
      part.body.removeLast(2)
    } else if part.body.last == 0x0a {
      part.body.removeLast()
    }
    for line in String(decoding: text[..<headEnd], as: UTF8.self).split(whereSeparator: \.isNewline)
    {
      let sides = line.split(separator: ":", maxSplits: 1)
      guard sides.count == 2 else { continue }
      let value = String(sides[1]).trimmingBlanks()
      switch sides[0].lowercased() {
      case "content-disposition":
        part.name = parameter("name", of: value) ?? ""
        part.fileName = parameter("filename", of: value)
      case "content-type": part.contentType = value
      default: break
      }
    }
    return part.name.isEmpty ? nil : part
  }

  /// A parameter of a header's value, with or without quotes.
  private static func parameter(_ name: String, of value: String) -> String? {
    var rest = value[...]
    while let separator = rest.firstIndex(of: ";") {
      rest = rest[rest.index(after: separator)...]
      let trimmed = rest.drop(while: \.isWhitespace)
      guard let equals = trimmed.firstIndex(of: "=") else { return nil }
      guard trimmed[..<equals].lowercased() == name else { continue }
      let text = trimmed[trimmed.index(after: equals)...]
      guard text.first == "\"" else {
        return String(text.prefix { $0 != ";" }).trimmingBlanks()
      }
      var result = ""
      var isEscaped = false
      for character in text.dropFirst() {
        if isEscaped {
          result.append(character)
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          break
        } else {
          result.append(character)
        }
      }
      return result
    }
    return nil
  }

  private static func find(_ mark: [UInt8], in bytes: [UInt8], from: Int) -> Int? {
    guard let first = mark.first, bytes.count >= mark.count else { return nil }
    var index = from
    while index <= bytes.count - mark.count {
      if bytes[index] == first, bytes[index..<index + mark.count].elementsEqual(mark) {
        return index
      }
      index += 1
    }
    return nil
  }
}
