import Foundation
import SalesforceSDKCommon

/// Sends a call again after a failure that may pass, by the policy of the client.
struct RetryInterceptor: RestInterceptor {
  let options: RestClient.Options
  let budget: RetryBudget

  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
    var machine = RetryMachine(policy: options.retries, isRepeatable: call.request.isRepeatable)
    budget.earn()
    while true {
      let pause: Duration
      do {
        let response = try await next(call)
        guard let wait = wait(after: RetryMachine.Outcome(response), of: call, &machine) else {
          return response
        }
        pause = wait
      } catch let error as RestError {
        guard let wait = wait(after: .failure(error.code), of: call, &machine) else { throw error }
        pause = wait
      }
      CoreLogger.log.info("\(call.request) is sent again in \(pause)")
      Telemetry.count("\(Telemetry.Work.request.rawValue).retries")
      try await options.clock.sleep(for: pause)
    }
  }

  private func wait(
    after outcome: RetryMachine.Outcome, of call: RestCall, _ machine: inout RetryMachine
  ) -> Duration? {
    guard !call.exchange.isFinal,
      let wait = machine.wait(after: outcome, chance: options.chance()), budget.spend()
    else { return nil }
    return wait
  }
}

extension RetryMachine.Outcome {
  fileprivate init(_ response: RestResponse) {
    self = .response(
      status: response.status, retryAfter: response.headers.retryAfter(now: SalesforceDate(Date())))
  }
}
