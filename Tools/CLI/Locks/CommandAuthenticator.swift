import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SystemAuthentication

extension Workspace {
  /// The authenticator that unlocks a state folder: PAM where the administrator has a service file for it, else a passcode.
  static func authenticator(
    _ secrets: some SecretStore, _ passcode: CommandPasscode
  ) -> any DeviceAuthenticator {
    let own = PasscodeAuthenticator(secrets: secrets, prompt: passcode)
    #if os(Linux)
      return FirstAvailableAuthenticator([PAMAuthenticator(prompt: TerminalPrompt()), own])
    #else
      return own
    #endif
  }
}

/// Questions of the system at the terminal.
struct TerminalPrompt: SystemPrompt {
  func input(for question: String, isHidden: Bool) async -> String? {
    guard StandardInput.isTerminal else { return nil }
    guard isHidden else {
      return Interruption.whileReading {
        FileHandle.standardError.write(Data(question.utf8))
        return readLine()
      }
    }
    return Interruption.whileReading { getpass(question).map { String(cString: $0) } }
  }

  func show(_ text: String, isError: Bool) async {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}
