import Foundation
import HTTPTypes
import SalesforceSDKCore

/// A part of a form, as it is written on the command line: `NAME=TEXT` or `NAME=@FILE;type=TYPE`.
struct FormPart {
  private let name: String
  private let value: String
  private let type: String?

  /// - Returns: `nil` for any other form.
  init?(_ argument: String) {
    guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex else { return nil }
    name = String(argument[..<sign])
    let rest = argument[argument.index(after: sign)...]
    if rest.hasPrefix("@"), let mark = rest.range(of: ";type=") {
      value = String(rest[..<mark.lowerBound])
      type = String(rest[mark.upperBound...])
    } else {
      value = String(rest)
      type = nil
    }
    guard value != "@" else { return nil }
  }

  /// - Throws: ``CommandFailure`` `unreadable`, naming the file.
  func add(to form: inout MultipartBody) throws {
    guard value.hasPrefix("@") else {
      return form.add(name, text: value)
    }
    let path = String(value.dropFirst())
    form.add(
      name, try UploadBody(argument: path), fileName: URL(filePath: path).lastPathComponent,
      contentType: type ?? "application/octet-stream")
  }
}

extension UploadBody {
  /// The content of a file that the user named.
  ///
  /// - Throws: ``CommandFailure`` `unreadable`, naming the file.
  init(argument path: String) throws {
    do {
      try self.init(file: URL(filePath: path))
    } catch {
      throw CommandFailure("unreadable", "Cannot read \(path). Does the file exist?")
    }
  }
}

extension HTTPField {
  /// Reads `NAME: VALUE`; `nil` for any other form.
  init?(argument: String) {
    let sides = argument.split(separator: ":", maxSplits: 1)
    guard sides.count == 2, let name = Name(String(sides[0])) else { return nil }
    self.init(name: name, value: sides[1].trimmingCharacters(in: .whitespaces))
  }
}
