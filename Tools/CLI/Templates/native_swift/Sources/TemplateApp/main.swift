import Foundation
import TemplateAppKit

let arguments = Array(CommandLine.arguments.dropFirst())
let folder = URL.homeDirectory.appending(path: ".local/state/com.example.templateapp")

do {
  let app = try await FieldApp(in: folder)
  do {
    try await run(arguments, app)
  } catch {
    try? await app.close()
    throw error
  }
  try await app.close()
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}

func run(_ arguments: [String], _ app: FieldApp) async throws {
  switch arguments.first {
  case "login": print("logged in as", try await app.logIn())
  case "sync":
    let result = try await app.sync()
    print("\(result.uploaded) uploaded, \(result.failed) not accepted")
  case "accounts", "contacts":
    for name in try await app.names(in: arguments[0]) { print(name) }
  case "rename" where arguments.count == 3:
    try await app.rename(account: arguments[1], to: arguments[2])
  case "clear": try await app.clear()
  case "logout": try await app.logOut()
  default:
    print("usage: TemplateApp login | sync | accounts | contacts | rename ID NAME | clear | logout")
  }
}
