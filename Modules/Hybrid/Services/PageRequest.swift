import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore

/// The REST request that a page describes in `pgSendRequest`.
struct PageRequest {
  let request: RestRequest

  /// The fields that a page cannot set: they belong to the connection or carry the session.
  private static let ownFields: Set<String> = [
    "authorization", "connection", "content-length", "cookie", "host", "transfer-encoding",
  ]

  /// - Throws: ``HybridError`` `invalidArguments`, `notAvailable`.
  init(_ message: HybridMessage, uploadFolders: [URL]) throws {
    let word = (try message.text("method") ?? "GET").uppercased()
    guard let method = HTTPRequest.Method(word),
      [.get, .head, .post, .put, .patch, .delete].contains(method)
    else { throw message.invalid("method", "GET, HEAD, POST, PUT, PATCH or DELETE") }
    var request = RestRequest(
      method: method, path: Self.address(try message.text("endPoint"), try message.text("path")),
      endpoint: "",
      requiresAuthentication: !(try message.flag("doesNotRequireAuthentication")))
    if let headers = try message.object("headerParams") {
      try Self.add(headers, to: &request, message)
    }
    let parameters = message["queryParams"]
    switch method {
    case .get, .head, .delete:
      if let parameters {
        guard parameters.kind == .object else { throw message.invalid("queryParams", "an object") }
        request.query = parameters.members.compactMap(Self.queryItem)
      }
    default:
      let files = try message.object("fileParams")
      if let files, files.count > 0 {
        request.setBody(try Self.form(files, parameters, uploadFolders, message))
      } else if let parameters {
        guard [.object, .array].contains(parameters.kind) else {
          throw message.invalid("queryParams", "an object or an array")
        }
        request.body = Array(parameters.utf8)
        if request.headers[.contentType] == nil {
          request.headers[.contentType] = "application/json"
        }
      }
    }
    self.request = request
  }

  /// `endPoint` and `path`, with what no address can hold percent-encoded: pages write blanks and quotes.
  private static func address(_ endPoint: String?, _ path: String?) -> String {
    let path = path ?? ""
    let isComplete =
      path.lowercased().hasPrefix("https://") || path.lowercased().hasPrefix("http://")
    var address = isComplete ? path : (endPoint ?? "") + path
    if !isComplete, !address.hasPrefix("/") { address = "/" + address }
    let allowed = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
    var encoded = ""
    for byte in address.utf8 {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
        || (0x61...0x7a).contains(byte) || allowed.contains(byte)
      if isPlain {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += "%" + (byte < 16 ? "0" : "") + digits
      }
    }
    return encoded
  }

  /// A text as it is, an array as texts with commas between, other values as their JSON text. Null is left out.
  private static func queryItem(_ key: String, _ value: JSONSlice) -> RestQueryItem? {
    if value.isNull { return nil }
    if value.kind == .array {
      return RestQueryItem(
        key, value.elements.map { $0.string ?? $0.description }.joined(separator: ","))
    }
    return RestQueryItem(key, value.string ?? value.description)
  }

  private static func add(
    _ headers: JSONSlice, to request: inout RestRequest, _ message: HybridMessage
  ) throws(HybridError) {
    for (key, value) in headers.members where !value.isNull {
      guard let name = HTTPField.Name(key) else {
        throw message.invalid("headerParams", "an object whose names are header names")
      }
      guard !ownFields.contains(name.canonicalName) else { continue }
      let text = value.string ?? value.description
      guard HTTPField.isValidValue(text) else {
        throw message.invalid("headerParams", "an object whose values have no line breaks")
      }
      request.headers[name] = text
    }
  }

  /// `queryParams`, each entry a part of its own, then the files.
  private static func form(
    _ files: JSONSlice, _ parameters: JSONSlice?, _ folders: [URL], _ message: HybridMessage
  ) throws -> MultipartBody {
    var form = MultipartBody()
    for (key, value) in parameters?.members ?? files.members where parameters != nil {
      if value.isNull { continue }
      let isJSON = value.kind == .object || value.kind == .array
      form.add(
        key, text: value.string ?? value.description,
        contentType: isJSON ? "application/json" : nil)
    }
    for (name, file) in files.members {
      guard let address = file["fileUrl"]?.string, let url = URL(string: address), url.isFileURL
      else {
        throw message.invalid("fileParams", "an object of files, each with a fileUrl (file:)")
      }
      let path = url.resolvingSymlinksInPath().standardizedFileURL.path
      let isAllowed = folders.contains { folder in
        path.hasPrefix(folder.resolvingSymlinksInPath().standardizedFileURL.path + "/")
      }
      guard isAllowed else {
        throw HybridError(
          .notAvailable,
          "Cannot upload the file of part \(name): pages have no access to its folder. Allow the folder in the host."
        )
      }
      form.add(
        name, try UploadBody(file: URL(filePath: path)), fileName: file["fileName"]?.string,
        contentType: file["fileMimeType"]?.string)
    }
    return form
  }
}
