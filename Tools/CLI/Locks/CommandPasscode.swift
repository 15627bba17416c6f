import Foundation
import SalesforceSDKCore
import Synchronization

/// Passcodes that options name, or that the person at the terminal types.
final class CommandPasscode: PasscodePrompt {
  private let given: [PasscodeRequest.Mode: String]
  private let used = Mutex<Set<PasscodeRequest.Mode>>([])

  /// Creates the source with the values of options.
  ///
  /// - Parameters:
  ///   - passcode: The passcode, also if there is none yet.
  ///   - new: The new passcode, if it is changed.
  init(passcode: String?, new: String?) {
    var given: [PasscodeRequest.Mode: String] = [:]
    given[.check] = passcode
    given[.create] = passcode
    given[.change] = new
    given[.confirm] = new ?? passcode
    self.given = given
  }

  /// Whether a passcode was given, or a user can type one.
  var isAvailable: Bool {
    given[.check] != nil || StandardInput.isTerminal
  }

  /// Returns the passcode. The value of an option is used only once unless it is right, so that a
  /// wrong one does not use up all attempts.
  func passcode(_ request: PasscodeRequest) async throws -> String? {
    guard given[.check] != nil else {
      return StandardInput.isTerminal ? Self.typed(Self.question(request)) : nil
    }
    let isFirst = used.withLock { $0.insert(request.mode).inserted }
    return isFirst || request.failures == 0 ? given[request.mode] : nil
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
