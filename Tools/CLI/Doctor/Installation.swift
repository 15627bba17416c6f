import Foundation
import SalesforceSDKCore

/// The program and the machine that it runs on.
enum Installation {
  static func findings() -> [Finding] {
    let system = ProcessInfo.processInfo.operatingSystemVersionString
    var findings = [Finding("program", .fine, "fieldforce \(SDKVersion.current) on \(system)")]
    let opener = openers.first { program(named: $0) != nil }
    findings.append(
      opener.map { Finding("browser", .fine, "'login --browser' opens it with \($0)") }
        ?? Finding(
          "browser", .warning, "There is no \(openers.joined(separator: " and no ")).",
          remedy: "Log in with 'fieldforce login --paste' or '--device', or install xdg-utils."))
    return findings
  }

  #if os(macOS)
    private static let openers = ["open"]
  #else
    private static let openers = ["xdg-open"]
  #endif

  /// The path of a program on the search path.
  static func program(named name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

/// The checks of the state folder, which open no store.
struct StateFolder {
  private let url: URL
  private let files = FileManager.default

  init(_ url: URL) { self.url = url }

  var exists: Bool { files.fileExists(atPath: url.path) }

  func findings() -> [Finding] {
    guard exists else {
      return [
        Finding(
          "state folder", .warning, "There is none yet at \(url.path).",
          remedy: "'fieldforce login --url URL --browser' makes it; 'fieldforce demo' needs none.")
      ]
    }
    var findings = [Finding("state folder", .fine, url.path)]
    for file in [url, url.appending(path: "master.key")] {
      guard let mode = try? files.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int,
        mode & 0o077 != 0
      else { continue }
      findings.append(
        Finding(
          "permissions", .failed,
          "\(file.path) can be used by other users of this machine (mode \(String(mode, radix: 8))).",
          remedy: "chmod go-rwx '\(file.path)'"))
    }
    let hosts = url.appending(path: LoginHostStorage.fileName)
    if !LoginHostStorage.isReadable(hosts) {
      findings.append(
        Finding(
          "login servers", .warning, "\(hosts.path) is damaged.",
          remedy: "The next command keeps it under another name and starts a new list."))
    }
    if let free = try? files.attributesOfFileSystem(forPath: url.path)[.systemFreeSize] as? Int64,
      free < Self.littleSpace
    {
      findings.append(
        Finding(
          "disk", .warning, "\(free / 1_000_000) MB are free where the state folder is.",
          remedy: "Free space on the disk: a store that cannot write refuses changes."))
    }
    return findings
  }

  private static let littleSpace: Int64 = 200_000_000
}
