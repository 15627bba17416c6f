public import struct Foundation.Date

/// A rule by which the org misbehaves: which requests it hits, and what it does to them.
///
/// Rules are tried in the order in which they were added; the first that matches acts, alone.
///
/// ```swift
/// org.add(.init(method: "GET", path: "/query", skipping: 1, action: .truncatedBody(at: 500)))
/// ```
public struct MockOrgFault: Sendable {
  /// What happens to a request.
  public struct Action: Sendable {
    enum Kind: Sendable {
      case status(Int, body: [UInt8], headers: [(String, String)])
      case delay(Duration)
      case dropBefore
      case dropAfter
      case truncate(Int)
      case edit(@Sendable ([UInt8]) -> [UInt8])
      case expireSessions
      case refuseRefresh
    }

    let kind: Kind

    /// Answers with a status and a body instead of doing the work.
    public static func status(_ status: Int, body: String = "", headers: [(String, String)] = [])
      -> Action
    {
      Action(kind: .status(status, body: Array(body.utf8), headers: headers))
    }
    /// Answers as ever, but later.
    public static func delay(_ duration: Duration) -> Action { Action(kind: .delay(duration)) }
    /// Closes the connection; the work is not done.
    public static let dropBeforeCommit = Action(kind: .dropBefore)
    /// Does the work, then closes the connection without an answer.
    public static let dropAfterCommit = Action(kind: .dropAfter)
    /// Does the work and announces the whole answer, but closes the connection after some bytes.
    public static func truncatedBody(at bytes: Int) -> Action { Action(kind: .truncate(bytes)) }
    /// Does the work and answers with other bytes: a malformed page, records without ids.
    public static func editedBody(_ edit: @escaping @Sendable ([UInt8]) -> [UInt8]) -> Action {
      Action(kind: .edit(edit))
    }
    /// Does the work and answers with text that is no JSON.
    public static let garbage = Action(
      kind: .edit { _ in Array("<html><body>Service Unavailable</body>".utf8) })
    /// Ends all access tokens first, so that the request gets 401; refresh tokens stay good.
    public static let expiredSession = Action(kind: .expireSessions)
    /// Ends all access and refresh tokens first, so that no refresh succeeds.
    public static let refusedRefresh = Action(kind: .refuseRefresh)
  }

  /// The method that the rule is about; nil: every method.
  public var method: String?
  /// A part of the path with its query, as sent; nil: every path.
  public var path: String?
  /// How many matching requests pass unharmed first.
  public var skipping: Int
  /// How many requests the rule hits after that; nil: all.
  public var count: Int?
  /// What happens to them.
  public var action: Action

  /// A rule; without arguments but the action it hits the next request.
  public init(
    method: String? = nil, path: String? = nil, skipping: Int = 0, count: Int? = 1, action: Action
  ) {
    self.method = method
    self.path = path
    self.skipping = skipping
    self.count = count
    self.action = action
  }

  func matches(method: String, target: String) -> Bool {
    (self.method.map { $0.uppercased() == method } ?? true)
      && (path.map { target.contains($0) } ?? true)
  }
}

/// A request that the org has answered, or has dropped.
public struct MockOrgRequestRecord: Sendable, Hashable {
  public let method: String
  /// The path with its query, as sent.
  public let target: String
  /// The status of the answer; nil if the connection was closed without one.
  public let status: Int?
  /// The `User-Agent` header.
  public let userAgent: String?
  /// The size of the request's body.
  public let requestBytes: Int
  /// The size of the answer's body.
  public let responseBytes: Int
  /// When it was answered, by the org's clock.
  public let date: Date

  /// The path without its query.
  public var path: String { String(target.prefix { $0 != "?" }) }
}
