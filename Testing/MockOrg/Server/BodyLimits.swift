import Synchronization

/// How long the bodies of requests may be.
enum BodyLimits {
  /// Files, and the rows of bulk jobs.
  static let upload = 150 << 20
  /// Records, composite requests, and what tests tell the control endpoint.
  static let records = 50 << 20
  /// Forms of the login, and whatever comes without a session.
  static let unauthenticated = 64 << 10
  /// Calls of SOAP whose session is known.
  static let soap = 10 << 20
  /// What of a call of SOAP may arrive before its session is known. The session is in the envelope's header.
  static let soapWithoutSession = 256 << 10
  /// Bodies that are in memory at one time.
  static let total = 400 << 20

  /// The limit for a request of which the head alone has arrived.
  ///
  /// - Parameter isAuthenticated: Whether the request has a session, or the token of the control endpoint.
  static func limit(for request: OrgRequest, isAuthenticated: Bool) -> Int {
    if isSOAP(request) { return soap }
    guard isAuthenticated, let root = request.path.first else { return unauthenticated }
    switch root {
    case ControlService.root: return records
    case "services" where request.path.count > 1:
      switch request.path[1] {
      case "data":
        let path = request.path.dropFirst(3)
        let isUpload =
          ["jobs", "connect", "chatter"].contains(path.first)
          || request.headers["content-type"]?.lowercased().hasPrefix("multipart/") == true
        return isUpload ? upload : records
      case "async": return upload
      case "apexrest": return records
      default: return unauthenticated
      }
    default: return unauthenticated
    }
  }
}

extension BodyLimits {
  static func isSOAP(_ request: OrgRequest) -> Bool {
    request.path.count > 2 && request.path[1].lowercased() == "soap"
  }

  /// The session that a call of SOAP names in the first ``soapWithoutSession`` bytes of its envelope; nil if it names
  /// none.
  static func session(inEnvelope bytes: [UInt8]) -> String? {
    let name = Array("sessionId>".utf8)
    let start = bytes.prefix(soapWithoutSession)
    guard let tag = start.firstRange(of: name) else { return nil }
    let text = start[tag.upperBound...].prefix { $0 != UInt8(ascii: "<") }
    return String(decoding: text, as: UTF8.self).trimmingBlanks()
  }

  /// Whether a request without a session is refused whatever its body says.
  static func isAuthenticationRequired(_ request: OrgRequest) -> Bool {
    request.path.first == ControlService.root
      || request.path.first == "services" && request.path.count > 1
        && ["data", "async", "apexrest"].contains(request.path[1])
  }
}

/// Counts the bytes of bodies that are in memory.
final class BodyBudget: Sendable {
  private let used = Mutex(0)

  /// Adds bytes; false if they do not fit, and then none was added.
  func take(_ bytes: Int) -> Bool {
    used.withLock { used in
      guard used + bytes <= BodyLimits.total else { return false }
      used += bytes
      return true
    }
  }

  func give(back bytes: Int) { used.withLock { $0 -= bytes } }
}
