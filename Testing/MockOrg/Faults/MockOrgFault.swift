public import struct Foundation.Date
import SalesforceSDKCommon

/// A fault injection rule: the requests that it matches, and the fault.
///
/// Rules are tried in the order in which they were added; the first that matches acts, alone.
///
/// ```swift
/// org.add(.init(method: "GET", path: "/query", skipping: 1, action: .truncatedBody(at: 500)))
/// org.add(.init(object: "Contact", probability: 0.1, seed: 7, count: nil, action: .rowLock))
/// ```
public struct MockOrgFault: Sendable {
  /// What happens to a request.
  public struct Action: Sendable {
    enum Kind: Sendable {
      case status(Int, body: [UInt8], headers: [(String, String)])
      case delay(Duration, bytesPerSecond: Int?)
      case dropBefore
      case dropAfter
      case truncate(Int)
      case trickle(bytes: Int, pause: Duration)
      case edit(@Sendable ([UInt8]) async -> [UInt8])
      case expireSessions
      case refuseRefresh
      case rotateRefresh
      case lockRows
      case shiftTime(Duration)
    }

    let kind: Kind
    /// What the log and the list of rules call it.
    let name: String

    /// Responds with a status and a body instead of doing the work.
    public static func status(_ status: Int, body: String = "", headers: [(String, String)] = [])
      -> Action
    {
      Action(
        kind: .status(status, body: Array(body.utf8), headers: headers), name: "status \(status)")
    }
    /// Responds as usual, but later.
    public static func delay(_ duration: Duration) -> Action {
      Action(kind: .delay(duration, bytesPerSecond: nil), name: "delay \(duration)")
    }
    /// Responds as over a network: later, and on each connection at no more than this rate.
    public static func delay(_ duration: Duration, bytesPerSecond: Int) -> Action {
      Action(
        kind: .delay(duration, bytesPerSecond: max(bytesPerSecond, 1)),
        name: "delay \(duration), \(bytesPerSecond) bytes/s")
    }
    /// Closes the connection; the work is not done.
    public static let dropBeforeCommit = Action(kind: .dropBefore, name: "drop before")
    /// Does the work, then closes the connection without a response.
    public static let dropAfterCommit = Action(kind: .dropAfter, name: "drop after")
    /// Does the work and announces the whole response, but closes the connection after some bytes.
    public static func truncatedBody(at bytes: Int) -> Action {
      Action(kind: .truncate(bytes), name: "cut at \(bytes)")
    }
    /// Does the work and sends the response's body a few bytes at a time, with a pause after each piece.
    public static func trickle(bytes: Int, every pause: Duration) -> Action {
      Action(kind: .trickle(bytes: max(1, bytes), pause: pause), name: "trickle \(bytes)")
    }
    /// Does the work and responds with other bytes: a malformed page, records without ids.
    ///
    /// - Parameter edit: Makes the response's body of the result. The client gets nothing before
    ///   it returns, so that it may also hold a response whose work is done.
    public static func editedBody(_ edit: @escaping @Sendable ([UInt8]) async -> [UInt8]) -> Action
    {
      Action(kind: .edit(edit), name: "edited body")
    }
    /// Does the work and responds with text that is not JSON.
    public static let garbage = Action(
      kind: .edit { _ in Array("<html><body>Service Unavailable</body>".utf8) }, name: "garbage")
    /// Ends all access tokens first, so that the request gets 401; refresh tokens stay good.
    public static let expiredSession = Action(kind: .expireSessions, name: "expired session")
    /// Ends all access and refresh tokens first, so that no refresh succeeds.
    public static let refusedRefresh = Action(kind: .refuseRefresh, name: "revoked tokens")
    /// A refresh gives a new refresh token and ends the one that it used.
    public static let rotatedRefreshToken = Action(kind: .rotateRefresh, name: "rotated token")
    /// Another transaction holds the records: nothing is done, and the response says `UNABLE_TO_LOCK_ROW`, for
    /// each record of a collection by itself. Requests that only read are not hit.
    public static let rowLock = Action(kind: .lockRows, name: "row lock")
    /// The day's requests are used up: 403 `REQUEST_LIMIT_EXCEEDED`.
    public static let requestLimit = Action(
      kind: .status(
        403,
        body: Array(
          #"[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]"#
            .utf8),
        headers: []), name: "request limit")
    /// The org is down for maintenance: 503 `SERVER_UNAVAILABLE`.
    public static let maintenance = Action(
      kind: .status(
        503,
        body: Array(
          #"[{"message":"We are down for maintenance.","errorCode":"SERVER_UNAVAILABLE"}]"#.utf8),
        headers: [("Retry-After", "60")]), name: "maintenance")
    /// Does the work with stamps of a while ago, as a transaction that took long to commit: a query in
    /// between has not seen the records, although their stamps lie before it.
    public static func lateCommit(by duration: Duration) -> Action {
      Action(kind: .shiftTime(.zero - duration), name: "late commit \(duration)")
    }
    /// Does the work at another time than the org's clock says.
    public static func clockSkew(by duration: Duration) -> Action {
      Action(kind: .shiftTime(duration), name: "clock skew \(duration)")
    }
  }

  /// The method that the rule is about; nil: every method.
  public var method: String?
  /// A part of the path with its query, as sent; nil: every path.
  public var path: String?
  /// The object that the request is about: in its path, behind FROM in its query, or as the type of a
  /// record in its body; nil: every object.
  public var object: String?
  /// How likely the rule hits a request that it matches, from 0 to 1.
  public var probability: Double
  /// What the chances follow from: the same seed hits the same requests.
  public var seed: UInt64
  /// How many matching requests pass unharmed first.
  public var skipping: Int
  /// How many requests the rule hits after that; nil: all.
  public var count: Int?
  /// What happens to them.
  public var action: Action

  /// A rule; without arguments but the action it hits the next request.
  public init(
    method: String? = nil, path: String? = nil, object: String? = nil, probability: Double = 1,
    seed: UInt64 = 1, skipping: Int = 0, count: Int? = 1, action: Action
  ) {
    self.method = method
    self.path = path
    self.object = object
    self.probability = probability
    self.seed = seed
    self.skipping = skipping
    self.count = count
    self.action = action
  }

  func matches(_ request: OrgRequest, target: String) -> Bool {
    (method.map { $0.uppercased() == request.method } ?? true)
      && (path.map { target.contains($0) } ?? true)
      && (object.map { request.concerns($0) } ?? true)
  }
}

extension OrgRequest {
  /// Whether the request is about records of an object.
  func concerns(_ object: String) -> Bool {
    let name = object.lowercased()
    if path.contains(where: { $0.lowercased() == name }) { return true }
    if let query = self[query: "q"]?.lowercased() {
      let words = query.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      return zip(words, words.dropFirst()).contains { $0 == "from" && $1 == name }
    }
    guard !body.isEmpty, let json = try? JSONSlice(parsing: body) else { return false }
    return Self.mentions(name, in: json)
  }

  private static func mentions(_ name: String, in json: JSONSlice) -> Bool {
    switch json.kind {
    case .array: return json.elements.contains { mentions(name, in: $0) }
    case .object:
      if json["type"]?.string?.lowercased() == name { return true }
      if let url = json["url"]?.string, url.lowercased().contains("/\(name)") { return true }
      return json.members.contains { mentions(name, in: $0.value) }
    default: return false
    }
  }
}

/// A request that the org has received, with its response or without one.
public struct MockOrgRequestRecord: Sendable, Hashable {
  /// The request's place in the log since the org was made, from 1.
  public let number: Int
  public let method: String
  /// The path with its query, as sent.
  public let target: String
  /// The status of the response; nil if the connection was closed without one.
  public let status: Int?
  /// The `User-Agent` header.
  public let userAgent: String?
  /// The size of the request's body.
  public let requestBytes: Int
  /// The size of the response's body.
  public let responseBytes: Int
  /// When it was served, by the org's clock.
  public let date: Date
  /// How long the response took, by the machine's clock.
  public let duration: Duration
  /// The fault that hit the request; nil: none did.
  public let fault: String?

  /// The path without its query.
  public var path: String { String(target.prefix { $0 != "?" }) }
}
