import IdentityProviderURLs
import TestSupport
import Testing

@testable import IdentityLogin

/// Does a response end the one login that it belongs to, whatever came before?
@Suite struct ServiceProviderMachineTests {
  private enum Event: Hashable {
    case start(String)
    case code(String?)
    case failure(String?)
    case stop(String)
    case request

    static let all: [Event] =
      ["A", "B"].flatMap { [Event.start($0), .code($0), .failure($0), .stop($0)] }
      + [.code(nil), .failure(nil), .code(""), .request]

    /// Ends a login with that state.
    func ends(_ state: String) -> Bool {
      [.code(state), .failure(state), .stop(state)].contains(self)
    }
  }

  private func play(_ event: Event, _ machine: inout ServiceProviderMachine)
    -> ServiceProviderMachine.Action?
  {
    switch event {
    case .start(let state): machine.start(state: state)
    case .code(let state):
      machine.receive(.authResponse(.init(code: "c", loginHost: "h", state: state)))
    case .failure(let state):
      machine.receive(.failure(.init(code: "e", state: state)))
    case .stop(let state):
      machine.stop(state: state) ? nil : .evict
    case .request:
      machine.receive(
        .authRequest(.init(clientId: "i", redirectURI: "r", codeChallenge: "c", state: "A")))
    }
  }

  /// Which login waits, from the history alone: the last start that found no other, unless something ended it since.
  private func waiting(after history: [Event]) -> String? {
    var open: [Int] = []
    for (index, event) in history.enumerated() {
      guard case .start(let state) = event else { continue }
      let isFree = open.allSatisfy { earlier in
        guard case .start(let other) = history[earlier] else { return true }
        return history[(earlier + 1)..<index].contains { $0.ends(other) }
      }
      _ = state
      if isFree { open.append(index) }
    }
    guard let last = open.last, case .start(let state) = history[last],
      !history[(last + 1)...].contains(where: { $0.ends(state) })
    else { return nil }
    return state
  }

  @Test(.covers("CO-162", "CO-166", "BX-26"))
  func
    `of all sequences of five events, only a response with the state of the waiting login counts`()
  {
    var sequences = 0
    func extend(_ history: [Event], _ machine: ServiceProviderMachine) {
      guard history.count < 5 else { return sequences += 1 }
      let open = waiting(after: history)
      for event in Event.all {
        var next = machine
        let action = play(event, &next)
        let expected: ServiceProviderMachine.Action? =
          switch event {
          case .start: open == nil ? .send : .busy
          case .code(let state) where state != nil && state == open:
            .exchange(code: "c", loginHost: "h")
          case .failure(let state) where state != nil && state == open:
            .fail(.init(code: "e", state: state))
          case .stop(let state) where state == open: nil
          default: .evict
          }
        if action != expected {
          Issue.record("\(history) then \(event): \(String(describing: action))")
        }
        extend(history + [event], next)
      }
    }
    extend([], ServiceProviderMachine())
    #expect(sequences == 248_832)
  }

  @Test(.covers("CO-162", "HT-82"))
  func `a provider carries out a request once, whether its challenge or its state comes again`() {
    func request(_ challenge: String, _ state: String?) -> IdentityCommand.AuthRequest {
      .init(clientId: "i", redirectURI: "r", codeChallenge: challenge, state: state)
    }
    var ledger = RequestLedger()
    #expect(ledger.admit(request("1", "a"), at: .zero) == .admitted)
    #expect(ledger.admit(request("1", "b"), at: .zero) == .replayed)
    #expect(ledger.admit(request("2", "a"), at: .zero) == .replayed)
    #expect(ledger.admit(request("1", nil), at: .zero) == .replayed)
    ledger.finish()
    #expect(ledger.admit(request("1", "a"), at: .seconds(1799)) == .replayed)
    #expect(ledger.admit(request("1", "a"), at: .seconds(1800)) == .admitted)
    for number in 1..<RequestLedger.maxActive {
      #expect(ledger.admit(request("n\(number)", nil), at: .seconds(1801)) == .admitted)
    }
    #expect(ledger.admit(request("3", nil), at: .seconds(1801)) == .busy)
    ledger.finish()
    #expect(ledger.admit(request("3", nil), at: .seconds(1801)) == .admitted)
  }

  @Test(.covers("CO-168")) func `handlers are tried in the platform's order, one takes the URL`()
    async throws
  {
    let handlers = URLHandlers()
    for kind in URLHandlers.Kind.allCases.reversed() {
      handlers.add(kind) { url in url.contains("\(kind)") || url == "all" }
    }
    #expect(try await handlers.handle("all") == .browserRedirect)
    #expect(try await handlers.handle("authRequest login") == .login)
    #expect(try await handlers.handle("scannedLogin failure") == .failure)
    #expect(try await handlers.handle("x:none") == nil)
    #expect(
      URLHandlers.Kind.allCases == [
        .browserRedirect, .authResponse, .login, .loginWithCode, .failure, .authRequest,
        .scannedLogin, .other,
      ])
  }
}
