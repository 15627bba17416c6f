import Foundation

// The description of the machine in the user agent, which each system provides in its own way.
extension UserAgent {
  /// The system's name.
  static var systemName: String {
    #if os(Linux)
      "Linux"
    #elseif os(macOS)
      "macOS"
    #elseif os(iOS)
      "iOS"
    #elseif os(tvOS)
      "tvOS"
    #elseif os(watchOS)
      "watchOS"
    #elseif os(visionOS)
      "visionOS"
    #else
      "unknown"
    #endif
  }

  /// The system's version: of the distribution where it says one, else of the kernel.
  static let systemVersion: String = {
    #if os(Linux)
      if let text = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VERSION_ID=") })
      {
        return line.dropFirst("VERSION_ID=".count).filter { $0 != "\"" }
      }
    #endif
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
  }()

  /// The processor's architecture.
  static var architecture: String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "unknown"
    #endif
  }
}
