import Foundation
import TemplateJobKit

func setting(_ name: String) -> String {
  guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
    fail("The variable \(name) is missing. The README has an example.")
  }
  return value
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("error: \(message)\n".utf8))
  exit(1)
}

do {
  let job = try Job(
    in: URL(filePath: setting("STATE"), directoryHint: .isDirectory),
    loginURL: setting("LOGIN_URL"), clientId: setting("CLIENT_ID"), username: setting("USERNAME"),
    key: try String(contentsOfFile: setting("KEY_FILE"), encoding: .utf8))
  let result = try await job.run()
  print("\(result.uploaded) uploaded, \(result.failed) not accepted")
  exit(result.failed == 0 ? 0 : 3)
} catch {
  fail("\(error)")
}
