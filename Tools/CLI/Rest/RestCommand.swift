import ArgumentParser
import Foundation
import HTTPTypes
import SalesforceSDKCore

/// `fieldforce rest`: one signed request.
struct RestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rest", abstract: "Send a signed request and print the answer.",
    discussion: """
      Examples:
        fieldforce rest GET /limits
        fieldforce rest POST /sobjects/Account --body '{"Name":"Acme"}'
        fieldforce rest PATCH /v60.0/sobjects/Account/001... --body @account.json
        fieldforce rest GET /services/apexrest/orders
      A path is taken to be below /services/data/\(RestRequest.defaultAPIVersion), unless it names a version itself,
      starts with /services or is a whole address.
      """)

  @Argument(help: "GET, POST, PATCH, PUT, DELETE or HEAD.") var method: String
  @Argument(help: "The path, such as /limits, or starting with /services.") var path: String
  @Option(help: "A JSON body, or @FILE.") var body: String?
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"].contains(method.uppercased()) else {
      throw ValidationError("\(method) is no method of the REST API.")
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

  func run() async throws {
    var request = RestRequest(
      method: HTTPRequest.Method(rawValue: method.uppercased()) ?? .get, path: fullPath)
    if let body {
      request.body =
        body.hasPrefix("@")
        ? try InputFile.read(URL(filePath: String(body.dropFirst()))) : Array(body.utf8)
      request.headers[.contentType] = "application/json"
    }
    let signed = request
    try await state.withWorkspace { workspace in
      let response = try await workspace.client().response(to: signed)
      if !response.body.isEmpty {
        FileHandle.standardOutput.write(Data(response.body + [UInt8(ascii: "\n")]))
      } else if output.json {
        print("null")
      }
      guard response.isSuccess else {
        throw CommandFailure(
          status: response.status, "the server answered with status \(response.status)")
      }
    }
  }
}
