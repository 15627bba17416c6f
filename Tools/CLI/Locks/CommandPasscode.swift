import Foundation
import SalesforceSDKCore
import Synchronization

/// Passcodes that options name, or that the person at the terminal types.
final class CommandPasscode: PasscodePrompt {
  private let given: [PasscodeRequest.Mode: String]
  private let used = Mutex<Set<PasscodeRequest.Mode>>([])

  /// Takes what options name.
  ///
  /// - Parameters:
  ///   - passcode: The passcode, also if there is none yet.
  ///   - new: What takes its place, where it is changed.
  init(passcode: String?, new: String?) {
    var given: [PasscodeRequest.Mode: String] = [:]
    given[.check] = passcode
    given[.create] = passcode
    given[.change] = new
    given[.confirm] = new ?? passcode
    self.given = given
  }

  /// Whether there is a passcode, or a person who could type one.
  var isAvailable: Bool {
    given[.check] != nil || StandardInput.isTerminal
  }

  /// What an option names counts once, unless it was right: a wrong one must not use up all attempts.
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

  /// What the person types, which is not shown; nil at an empty line.
  private static func typed(_ question: String) -> String? {
    let text = Interruption.whileReading { getpass(question).map { String(cString: $0) } }
    return text?.isEmpty == false ? text : nil
  }
}
