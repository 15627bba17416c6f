public import Foundation

/// An error of the libraries: its code, a message (what failed, and what to do), its cause, and the
/// line that detected it.
///
/// ```swift
/// do {
///   try await store.upsert(entries: entries, forSoupNamed: "accounts")
/// } catch let error as any FieldforceError {
///   logger.error("\(error) at \(error.location)")
///   showAlert(error.localizedDescription)
/// }
/// ```
///
/// `description` is for logs: the code's name and the message, without data of records.
/// `localizedDescription` is for users: the message and, if a server caused the error, the server's
/// message, which may quote values of a record.
public protocol FieldforceError: LocalizedError, CustomStringConvertible, Sendable {
  /// The kinds of failure. Kinds may be added; compare, do not enumerate.
  associatedtype Code: Sendable, Hashable, CustomStringConvertible

  /// The kind of failure.
  var code: Code { get }
  /// The failure, its subject and the remedy.
  var message: String { get }
  /// The underlying error, if there is one.
  var cause: (any Error)? { get }
  /// The line that noticed the failure.
  var location: SourceLocation { get }
  /// Whether the same call may succeed later, without a change by the caller. Default: false.
  var isRetryable: Bool { get }
}

extension FieldforceError {
  public var cause: (any Error)? { nil }

  public var isRetryable: Bool { false }

  /// The code's name and the message.
  public var description: String { "\(code): \(message)" }

  /// The message.
  public var errorDescription: String? { message }

  /// Nil: the message says it.
  public var failureReason: String? { nil }

  /// Nil: the message says it.
  public var recoverySuggestion: String? { nil }

  public var helpAnchor: String? { nil }
}
