#if os(Linux)
  import CPAM
  import Dispatch
  import Glibc
  import Synchronization

  /// The questions of one authentication: carries them from the thread on which PAM runs to the prompt.
  final class PAMConversation: Sendable {
    private struct State {
      var isCancelled = false
      /// The question that is open, and what PAM's thread waits for.
      var question: (task: Task<Void, Never>, isDone: DispatchSemaphore)?
    }

    private let prompt: any SystemPrompt
    private let state = Mutex(State())

    init(_ prompt: any SystemPrompt) { self.prompt = prompt }

    /// Whether the user or the task cancelled the authentication.
    var wasCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the question that is open, and all that follow. PAM's thread does not wait for a prompt that goes on.
    func cancel() {
      let question = state.withLock { state in
        state.isCancelled = true
        return state.question
      }
      question?.task.cancel()
      question?.isDone.signal()
    }

    /// The function that PAM calls with the pointer to a conversation.
    static let function:
      @convention(c) (
        Int32, UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
        UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, UnsafeMutableRawPointer?
      ) -> Int32 = { count, messages, responses, data in
        guard let messages, let responses, let data, count > 0, count <= PAM_MAX_NUM_MSG else {
          return PAM_CONV_ERR
        }
        let conversation = Unmanaged<PAMConversation>.fromOpaque(data).takeUnretainedValue()
        // PAM frees this memory, so it comes from the C library.
        guard let memory = calloc(Int(count), MemoryLayout<pam_response>.stride) else {
          return PAM_BUF_ERR
        }
        let entered = memory.bindMemory(to: pam_response.self, capacity: Int(count))
        for number in 0..<Int(count) {
          guard let message = messages[number]?.pointee, let text = message.msg else { continue }
          let status = conversation.handle(
            message.msg_style, String(cString: text), &entered[number])
          guard status == PAM_SUCCESS else {
            for number in 0..<Int(count) { PAMConversation.erase(&entered[number]) }
            free(memory)
            return status
          }
        }
        responses.pointee = entered
        return PAM_SUCCESS
      }

    private func handle(_ style: Int32, _ text: String, _ response: inout pam_response) -> Int32 {
      switch style {
      case PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON:
        let input = wait { [prompt] in
          await prompt.input(for: text, isHidden: style == PAM_PROMPT_ECHO_OFF)
        }
        // PAM reads a text up to its first NUL: the rest of a password would not count.
        guard let input = input ?? nil, !input.utf8.contains(0),
          input.utf8.count < PAM_MAX_RESP_SIZE
        else {
          state.withLock { $0.isCancelled = true }
          return PAM_CONV_ERR
        }
        response.resp = strdup(input)
        return response.resp == nil ? PAM_BUF_ERR : PAM_SUCCESS
      case PAM_ERROR_MSG, PAM_TEXT_INFO:
        let isShown: Void? = wait { [prompt] in
          await prompt.show(text, isError: style == PAM_ERROR_MSG)
        }
        return isShown == nil ? PAM_CONV_ERR : PAM_SUCCESS
      default:
        return PAM_CONV_ERR
      }
    }

    /// Blocks PAM's thread until the prompt has returned; `nil` if the authentication was cancelled.
    private func wait<Result: Sendable>(
      _ body: @escaping @Sendable () async -> Result
    ) -> Result? {
      let result = Shared<Result>()
      let isDone = DispatchSemaphore(value: 0)
      let mayAsk = state.withLock { state in
        guard !state.isCancelled else { return false }
        let task = Task {
          let value = await body()
          result.value.withLock { $0 = value }
          isDone.signal()
        }
        state.question = (task, isDone)
        return true
      }
      guard mayAsk else { return nil }
      isDone.wait()
      return state.withLock { state in
        state.question = nil
        return state.isCancelled ? nil : result.value.withLock { $0 }
      }
    }

    private final class Shared<Value: Sendable>: Sendable {
      let value = Mutex<Value?>(nil)
    }

    /// Overwrites and frees what the user entered.
    private static func erase(_ response: inout pam_response) {
      guard let text = response.resp else { return }
      explicit_bzero(text, strlen(text))
      free(text)
      response.resp = nil
    }
  }
#endif
