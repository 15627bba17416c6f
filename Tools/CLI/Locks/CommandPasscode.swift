import Foundation
import SalesforceSDKCore
import Synchronization

/// Passcodes that options name, or that the person at the terminal types.
final class CommandPasscode: PasscodePrompt {
  private let current: String?
  private let new: String?
  private let isTerminal: Bool
  private let wasConfirmed = Atomic(false)

  /// Creates the source with the values of options.
  ///
  /// - Parameters:
  ///   - passcode: The passcode, also if there is none yet.
  ///   - new: The new passcode, if it is changed.
  ///   - isTerminal: Whether a person can type one. Default: whether standard input is a terminal.
  init(passcode: String?, new: String?, isTerminal: Bool = StandardInput.isTerminal) {
    current = passcode
    self.new = new
    self.isTerminal = isTerminal
  }

  /// Whether a passcode was given, or a user can type one.
  var isAvailable: Bool { current != nil || isTerminal }

  /// Whether a new passcode was chosen: after a successful authentication, it is the present one.
  var hasChosen: Bool { wasConfirmed.load(ordering: .sequentiallyConsistent) }

  /// Returns the passcode. It prompts again only at a terminal.
  ///
  /// - Throws: ``LockError`` `refused` if an option's value was wrong, has another form than the request's, or is
  ///   missing where the org demands a longer passcode.
  func passcode(_ request: PasscodeRequest) async throws -> String? {
    if request.mode == .confirm { wasConfirmed.store(true, ordering: .sequentiallyConsistent) }
    let given: String? =
      switch request.mode {
      case .check: current
      case .create: new ?? current
      case .change: new
      case .confirm: new ?? current
      }
    guard let given else {
      if isTerminal { return Self.typed(Self.question(request)) }
      guard current != nil else { return nil }
      throw LockError(
        .refused,
        "The org demands a passcode of \(request.length) digits now. Run 'fieldforce unlock --change --passcode @OLD "
          + "--new-passcode @NEW'.")
    }
    if request.isRepeated { throw Self.refused(request) }
    return given
  }

  private static func refused(_ request: PasscodeRequest) -> LockError {
    guard request.mode == .check else {
      return LockError(
        .refused, "The new passcode does not have \(request.length) digits. Give one that has.")
    }
    let left = counted(request.attemptsLeft ?? 0, "attempt")
    return LockError(
      .refused,
      "The passcode is wrong; it has \(request.length) digits. Try again: \(left) left.")
  }

  private static func question(_ request: PasscodeRequest) -> String {
    switch request.mode {
    case .create: "New passcode, \(request.length) digits: "
    case .change: "Another passcode, \(request.length) digits: "
    case .confirm: "The new passcode once more: "
    case .check:
      (request.attemptsLeft ?? 10) < 10
        ? "Passcode (\(counted(request.attemptsLeft ?? 0, "attempt")) left): " : "Passcode: "
    }
  }

  /// Reads the passcode without echo; nil for an empty line.
  private static func typed(_ question: String) -> String? {
    let text = Interruption.whileReading { getpass(question).map { String(cString: $0) } }
    return text?.isEmpty == false ? text : nil
  }
}
