#if os(Linux)
  import Foundation
  import SalesforceSDKCommon
  import SalesforceSDKCore
  import Synchronization
  import TestSupport
  import Testing

  @testable import SystemAuthentication

  /// Does PAM decide who unlocks an app, with its modules as the administrator has ordered them?
  struct PAMAuthenticatorTests {
    private let folder: TemporaryFolder
    private let policy = LockPolicy(timeoutMinutes: 5)

    init() throws { folder = try TemporaryFolder() }

    /// The inputs of a user, in order; `nil` cancels.
    private final class ScriptedPrompt: SystemPrompt {
      private let inputs: Mutex<[String?]>
      private let seen = Mutex<[String]>([])
      init(_ inputs: [String?]) { self.inputs = Mutex(inputs) }

      /// The questions and texts so far.
      var texts: [String] { seen.withLock { $0 } }

      func input(for question: String, isHidden: Bool) async -> String? {
        seen.withLock { $0.append("\(question)\(isHidden ? " (hidden)" : "")") }
        return inputs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      }

      func show(_ text: String, isError: Bool) async {
        seen.withLock { $0.append(isError ? "error: \(text)" : text) }
      }
    }

    /// Writes a service file whose first module accepts one password.
    private func service(
      _ name: String = "unlock", password: String = "right", before: String = "",
      account: String = "account required pam_permit.so"
    ) throws {
      let script = folder.file("check.sh")
      // The module gives the password to the program, with a NUL after it.
      try Data("[ \"$(tr -d '\\000')\" = '\(password)' ]\n".utf8).write(to: script)
      try Data(
        """
        \(before)
        auth required pam_exec.so quiet expose_authtok /bin/sh \(script.path)
        \(account)

        """.utf8
      ).write(to: folder.file(name))
    }

    private func authenticator(
      _ prompt: some SystemPrompt, service: String = "unlock"
    ) -> PAMAuthenticator {
      PAMAuthenticator(service: service, prompt: prompt, folder: folder.url)
    }

    private func code(_ prompt: some SystemPrompt, service: String = "unlock") async
      -> LockError.Code?
    {
      do {
        try await authenticator(prompt, service: service).authenticate(for: policy)
        return nil
      } catch {
        return (error as? LockError)?.code
      }
    }

    @Test(.covers("CO-156", "HT-76"))
    func `the password that a module accepts unlocks, and no other does`() async throws {
      try service()
      let prompt = ScriptedPrompt(["right"])
      #expect(await code(prompt) == nil)
      #expect(prompt.texts.count == 1)
      #expect(prompt.texts.allSatisfy { $0.hasSuffix("(hidden)") })
      #expect(await code(ScriptedPrompt(["wrong"])) == .refused)
      #expect(await code(ScriptedPrompt([""])) == .refused)
      // PAM would read this as the right password.
      #expect(await code(ScriptedPrompt(["right\0more"])) == .cancelled)
    }

    @Test(.covers("CO-156")) func `an account that may not log in does not unlock`() async throws {
      try service(account: "account required pam_deny.so")
      #expect(await code(ScriptedPrompt(["right"])) == .refused)
    }

    @Test(.covers("CO-156")) func `a cancelled question is a cancelled authentication`()
      async throws
    {
      try service()
      #expect(await code(ScriptedPrompt([nil])) == .cancelled)
    }

    @Test(.covers("CO-156")) func `texts of modules are shown`() async throws {
      let text = folder.file("text")
      try Data("Touch the reader.".utf8).write(to: text)
      try service(before: "auth optional pam_echo.so file=\(text.path)")
      let prompt = ScriptedPrompt(["right"])
      #expect(await code(prompt) == nil)
      #expect(prompt.texts.first == "Touch the reader.")
    }

    @Test(.covers("CO-156"))
    func `without a service file, or with a module that is not there, nothing can authenticate`()
      async throws
    {
      for name in ["", "missing", "../unlock", "unlock/../unlock"] {
        #expect(authenticator(ScriptedPrompt([]), service: name).isAvailable == false)
        #expect(await code(ScriptedPrompt([]), service: name) == .unavailable)
      }
      try service(before: "auth requisite pam_that_is_not_there.so")
      #expect(await code(ScriptedPrompt(["right"])) == .unavailable)
    }

    @Test(.covers("CO-156"), .timeLimit(.minutes(1)))
    func `a cancelled task ends its authentication, also if the prompt goes on`() async throws {
      struct DeafPrompt: SystemPrompt {
        let isAsked = SharedOutcome<Void>()
        let mayEnd = SharedOutcome<String>()
        func input(for question: String, isHidden: Bool) async -> String? {
          isAsked.resolve(.success(()))
          // A task of its own is not cancelled with the question.
          return try? await Task { [mayEnd] in try await mayEnd.value() }.value
        }
        func show(_ text: String, isError: Bool) async {}
      }
      try service()
      let prompt = DeafPrompt()
      let authenticator = authenticator(prompt)
      let task = Task { [policy] in try await authenticator.authenticate(for: policy) }
      try await prompt.isAsked.value()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      prompt.mayEnd.resolve(.success("right"))
    }

    @Test(.covers("CO-156"))
    func `an app asks PAM where there is a service, else for a passcode`() async throws {
      let passcode = ScriptedDeviceAuthenticator([.success(())])
      let prompt = ScriptedPrompt(["right"])
      let both = FirstAvailableAuthenticator([authenticator(prompt), passcode])
      try await both.authenticate(for: policy)
      #expect(passcode.policies == [policy])
      try service()
      try await both.authenticate(for: policy)
      #expect(passcode.policies.count == 1)
      #expect(prompt.texts.count == 1)
      // A refusal does not lead to the next way.
      await #expect(throws: LockError.self) { try await both.authenticate(for: policy) }
      #expect(passcode.policies.count == 1)
    }
  }
#endif
