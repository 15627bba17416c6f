import Foundation
import SalesforceSDKCommon

/// The content of `template.json` at the root of a template: data, never a program.
///
/// ```json
/// { "appType": "native_swift", "platforms": ["linux", "apple"], "description": "A program with an offline store",
///   "appName": "TemplateApp", "packageName": "com.example.templateapp", "organization": "Template Organization",
///   "startPage": "apex/StartPage", "replaceInFiles": ["README.md"], "move": [["a", "b"]], "remove": ["c"],
///   "workspacePath": "", "bootconfigFile": "bootconfig.json", "nextSteps": ["swift build"] }
/// ```
struct TemplateDescriptor {
  static let fileName = "template.json"
  /// No descriptor is longer: 1 MiB.
  private static let maxBytes = 1 << 20

  let appType: AppType
  let platforms: Set<Platform>
  let description: String
  /// The placeholders in the template's files that a project's own texts replace; nil if there are none.
  let appName: String?
  let packageName: String?
  let organization: String?
  let startPage: String?
  /// The files in which texts are replaced; nil: all files of text.
  let replaceInFiles: [String]?
  let move: [(from: String, to: String)]
  let remove: [String]
  /// The file to open, below the project's folder.
  let workspacePath: String
  let bootconfigFile: String?
  /// The commands that build, test and run a project, in its folder.
  let nextSteps: [String]

  /// Reads the descriptor of the template in `folder`.
  ///
  /// - Throws: ``CommandFailure`` `invalidTemplate`.
  init(of folder: URL) throws {
    let file = folder.appending(path: Self.fileName)
    guard (try? FileManager.default.attributesOfItem(atPath: file.path)) != nil else {
      let isOriginal = FileManager.default.fileExists(
        atPath: folder.appending(path: "template.js").path)
      throw Self.failure(
        isOriginal
          ? "The template has a template.js, a program for the Mobile SDK's own tools, and no \(Self.fileName). Use "
            + "it with forceios, forcedroid or forcehybrid."
          : "There is no \(Self.fileName) in \(folder.path), so it is not a template. "
            + "'fieldforce listtemplates' lists templates.")
    }
    let json = try Self.json(file)
    guard json.kind == .object else { throw Self.failure("\(Self.fileName) holds no JSON object.") }
    guard let appType = json["appType"]?.string.flatMap(AppType.init(rawValue:)) else {
      throw Self.failure(
        "The appType \(json["appType"]?.description ?? "of the template is missing and") is unknown. Known are "
          + AppType.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    self.appType = appType
    platforms = Set(
      try Self.texts("platforms", json)?.map { name in
        guard let platform = Platform(rawValue: name) else {
          throw Self.failure("The platform '\(name)' of the template is unknown.")
        }
        return platform
      } ?? Platform.allCases)
    description = json["description"]?.string ?? appType.rawValue
    appName = json["appName"]?.string
    packageName = json["packageName"]?.string
    organization = json["organization"]?.string
    startPage = json["startPage"]?.string
    replaceInFiles = try Self.texts("replaceInFiles", json)
    move = try (json["move"]?.value.array ?? []).map { pair in
      guard let pair = pair.array, pair.count == 2, let from = pair[0].string,
        let to = pair[1].string
      else { throw Self.failure("'move' is not a list of pairs of paths.") }
      return (from, to)
    }
    remove = try Self.texts("remove", json) ?? []
    workspacePath = json["workspacePath"]?.string ?? ""
    bootconfigFile = json["bootconfigFile"]?.string
    nextSteps = try Self.texts("nextSteps", json) ?? []
    let paths =
      (replaceInFiles ?? []) + move.flatMap { [$0.from, $0.to] } + remove + [workspacePath]
      + (bootconfigFile.map { [$0] } ?? [])
    for path in paths where !Self.staysInside(path) {
      throw Self.failure("The path '\(path)' leaves the project. Correct \(Self.fileName).")
    }
  }

  /// Reads the file, which has to be in the template itself: the target of a link is another file, and a pipe has no end.
  private static func json(_ file: URL) throws -> JSONSlice {
    let type = try? FileManager.default.attributesOfItem(atPath: file.path)[.type]
    let bytes = (try? DurableFile(file).read(maxBytes: maxBytes)) ?? nil
    guard type as? FileAttributeType == .typeRegular, let bytes else {
      throw failure("\(fileName) is no regular file of at most \(maxBytes) bytes.")
    }
    do throws(JSONError) {
      return try JSONSlice(parsing: bytes)
    } catch {
      throw failure("\(fileName) is not valid JSON: \(error.message)")
    }
  }

  /// Whether a relative path stays inside its start folder.
  static func staysInside(_ path: String) -> Bool {
    !path.hasPrefix("/") && !path.split(separator: "/").contains("..")
      && !path.utf8.contains(0)
  }

  private static func texts(_ key: String, _ json: JSONSlice) throws -> [String]? {
    guard let value = json[key] else { return nil }
    guard let list = value.value.array, list.allSatisfy({ $0.string != nil }) else {
      throw failure("'\(key)' is not a list of texts.")
    }
    return list.compactMap(\.string)
  }

  static func failure(_ message: String) -> CommandFailure {
    CommandFailure("invalidTemplate", "Cannot use the template: \(message)")
  }
}

/// The kinds of projects.
enum AppType: String, CaseIterable {
  case nativeSwift = "native_swift"
  case syncTarget = "sync_target"
  case serverJob = "server_job"
  case hybridLocal = "hybrid_local"
  case hybridRemote = "hybrid_remote"
  case iOSSwiftUI = "ios_swiftui"

  /// Whether the app's name becomes the name of Swift modules.
  var isSwift: Bool { self != .hybridLocal && self != .hybridRemote }
}

/// The systems that a project runs on.
enum Platform: String, CaseIterable { case linux, apple }
