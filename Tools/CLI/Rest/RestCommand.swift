import ArgumentParser
import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce rest`: one signed request.
struct RestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rest", abstract: "Send a signed request and print or save the response.",
    discussion: """
      Examples:
        fieldforce rest GET /limits
        fieldforce rest POST /sobjects/Account --body '{"Name":"Acme"}'
        fieldforce rest PATCH /v60.0/sobjects/Account/001... --body @account.json
        fieldforce rest GET /services/apexrest/orders
        fieldforce rest POST /connect/files/users/me --form fileData=@plan.pdf
        fieldforce rest GET /connect/files/069.../content --output plan.pdf
        fieldforce rest PUT /jobs/ingest/750.../batches --body @rows.csv \\
          --content-type text/csv
      A path is taken to be below /services/data/\(RestRequest.defaultAPIVersion),
      unless it names a version itself, starts with /services or is a whole address.
      Files are read and written piece by piece, so their size does not matter. An
      --output that broke off goes on where it ended.
      """)

  @Argument(help: "GET, POST, PATCH, PUT, DELETE or HEAD.") var method: String
  @Argument(help: "The path, such as /limits, or starting with /services.") var path: String
  @Option(help: "The body, or @FILE.") var body: String?
  @Option(
    help: ArgumentHelp("The media type of the body.", discussion: "Default: application/json.")
  ) var contentType: String?
  @Option(
    help: ArgumentHelp(
      "A part of a form: NAME=TEXT, or NAME=@FILE with an optional ;type=TYPE behind it. Can be repeated.",
      valueName: "part")
  ) var form: [String] = []
  @Option(
    help: ArgumentHelp("A header field, NAME: VALUE. Can be repeated.", valueName: "field")
  ) var header: [String] = []
  @Option(
    help: ArgumentHelp("Save the response in a file.", valueName: "file"), completion: .file()
  ) var output: String?
  @Flag(help: "Download the whole file again instead of resuming a partial download.")
  var noResume = false
  @OptionGroup var state: StateOptions
  @OptionGroup var printing: OutputOptions

  func validate() throws {
    guard ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"].contains(method.uppercased()) else {
      throw ValidationError("\(method) is not a method of the REST API.")
    }
    guard body == nil || form.isEmpty else {
      throw ValidationError("Give either --body or --form, not both.")
    }
    guard contentType == nil || body != nil else {
      throw ValidationError("--content-type is only for a request with --body.")
    }
    guard body == nil && form.isEmpty || !["GET", "HEAD"].contains(method.uppercased()) else {
      throw ValidationError("\(method.uppercased()) sends no body.")
    }
    for part in form where FormPart(part) == nil {
      throw ValidationError("\(part) is no NAME=TEXT and no NAME=@FILE.")
    }
    for field in header where HTTPField(argument: field) == nil {
      throw ValidationError("\(field) is no NAME: VALUE.")
    }
  }

  /// The path with the default version before it, unless it is complete.
  private var fullPath: String {
    let relative = path.hasPrefix("/") ? path : "/\(path)"
    let isComplete =
      path.contains("://") || relative.hasPrefix("/services/")
      || relative.prefixMatch(of: /\/v[0-9]+\.[0-9]+(\/|$)/) != nil
    return isComplete ? path : "/{v}\(relative)"
  }

  private func request() throws -> RestRequest {
    var request = RestRequest(
      method: HTTPRequest.Method(rawValue: method.uppercased()) ?? .get, path: fullPath)
    if let body {
      if body.hasPrefix("@") {
        request.upload = try UploadBody(argument: String(body.dropFirst()))
      } else {
        request.body = Array(body.utf8)
      }
      request.headers[.contentType] = contentType ?? "application/json"
    }
    if !form.isEmpty {
      var parts = MultipartBody()
      for part in form.compactMap({ FormPart($0) }) { try part.add(to: &parts) }
      request.setBody(parts)
    }
    for field in header.compactMap({ HTTPField(argument: $0) }) {
      request.headers[field.name] = field.value
    }
    return request
  }

  func run() async throws {
    let request = try request()
    try await state.withWorkspace { workspace in
      let client = try await workspace.client()
      if let output {
        try await save(request, client, to: URL(filePath: output))
      } else {
        try await show(request, client)
      }
    }
  }

  /// Prints the response, also that of a refused request.
  private func show(_ request: RestRequest, _ client: RestClient) async throws {
    let response = try await TransferLine.following(request.upload == nil ? nil : "sending") {
      try await client.response(to: request, progress: $0)
    }
    if !response.body.isEmpty {
      if isatty(STDOUT_FILENO) == 1 {
        Console.printRaw(String(decoding: response.body, as: UTF8.self))
      } else {
        FileHandle.standardOutput.write(Data(response.body + [UInt8(ascii: "\n")]))
      }
    } else if printing.json {
      print("null")
    }
    guard response.isSuccess else {
      throw CommandFailure(
        status: response.status, "The server responded with status \(response.status).")
    }
  }

  /// Saves the response of a request that succeeds.
  private func save(_ request: RestRequest, _ client: RestClient, to url: URL) async throws {
    let download = try await TransferLine.following("receiving") {
      try await client.download(request, to: url, resumes: !noResume, progress: $0)
    }
    let document: JSONObject = [
      "path": .string(url.path), "bytes": .integer(download.bytes),
      "resumedFrom": .integer(download.resumedFrom),
      "contentType": download.contentType.map { .string($0) } ?? .null,
    ]
    if printing.json {
      Console.printRaw(JSONValue.object(document).text)
    } else {
      Console.say("saved \(download.bytes) bytes in \(url.path)")
    }
  }
}
