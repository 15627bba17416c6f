import MobileSync
import SalesforceSDKCommon
import SmartStore

/// An error in a configuration file.
struct ConfigProblem {
  let file: String
  let line: Int
  let column: Int
  /// The place in the document, such as `soups[0].indexes`.
  let path: String
  let message: String
  let isWarning: Bool

  var document: JSONValue {
    [
      "file": .string(file), "line": .integer(Int64(line)), "column": .integer(Int64(column)),
      "path": .string(path), "message": .string(message), "warning": .bool(isWarning),
    ]
  }

  /// As compilers write it.
  var text: String {
    "\(file):\(line):\(column): \(isWarning ? "warning" : "error"): \(message)"
      + (path.isEmpty ? "" : " (\(path))")
  }
}

/// The check of a file of syncs.
enum SyncsFile {
  static func problems(in content: [UInt8], file: String) throws -> [ConfigProblem] {
    SyncsConfig(parsing: content, file: file, registry: try .standard()).problems.map {
      ConfigProblem(
        file: $0.file, line: $0.line, column: $0.column, path: $0.path, message: $0.message,
        isWarning: $0.isWarning)
    }
  }
}

/// The check of a file of soups: `{"soups": [{"soupName": …, "indexes": [{"path": …, "type": …}]}]}`.
enum SoupsFile {
  /// A key that is unknown is an error here, also where loading the file ignores it.
  static func problems(in content: [UInt8], file: String) -> [ConfigProblem] {
    StoreConfiguration(
      parsing: content, file: file, meant: { Misspelling.closest(to: $0, among: $1) }
    ).problems.map {
      ConfigProblem(
        file: $0.file, line: $0.line, column: $0.column, path: $0.path, message: $0.message,
        isWarning: false)
    }
  }
}
