public import Foundation
import HTTPTypes

/// A body of several named parts (`multipart/form-data`), each of which may be a file that is read while
/// it is sent (CO-137).
///
/// ```swift
/// var form = MultipartBody()
/// form.add("json", text: #"{"title":"Plan"}"#, contentType: "application/json")
/// form.add("fileData", try UploadBody(file: url), fileName: "plan.pdf", contentType: "application/pdf")
/// request.setBody(form)
/// ```
public struct MultipartBody: Sendable, Equatable {
  /// The separator of the parts, which no part may contain.
  public let boundary: String
  private var parts = UploadBody([])

  /// Begins without parts.
  ///
  /// - Parameter boundary: Default: a random one.
  public init(boundary: String = UUID().uuidString) {
    self.boundary = boundary
  }

  /// Adds a part of text.
  ///
  /// - Parameter contentType: Default: none, which means plain text.
  public mutating func add(_ name: String, text: String, contentType: String? = nil) {
    add(name, UploadBody(Array(text.utf8)), contentType: contentType)
  }

  /// Adds a part.
  ///
  /// - Parameter fileName: The file's name on the server; quotes in it are escaped, line breaks are
  ///   percent-encoded. Default: none.
  /// - Parameter contentType: Line breaks in it are percent-encoded. Default: none, which means plain text.
  public mutating func add(
    _ name: String, _ content: UploadBody, fileName: String? = nil, contentType: String? = nil
  ) {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\(Self.quoted(name))"
    if let fileName { head += "; filename=\(Self.quoted(fileName))" }
    // Behind a line break would stand another header field, or the content.
    if let contentType { head += "\r\nContent-Type: \(Self.escaped(contentType, quotes: false))" }
    head += "\r\n\r\n"
    parts = parts + UploadBody(Array(head.utf8)) + content + UploadBody(Array("\r\n".utf8))
  }

  /// The parts with what stands between them, and the end.
  var body: UploadBody { parts + UploadBody(Array("--\(boundary)--\r\n".utf8)) }

  /// The value of `Content-Type`.
  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  private static func quoted(_ text: String) -> String { "\"\(escaped(text, quotes: true))\"" }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\"", "\\": result += quotes ? "\\\(character)" : "\(character)"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}

extension RestRequest {
  /// Sets `form` as the request's body.
  public mutating func setBody(_ form: MultipartBody) {
    body = nil
    upload = form.body
    headers[.contentType] = form.contentType
  }
}
