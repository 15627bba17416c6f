public import SalesforceSDKCore
import IdentityProviderURLs
import SalesforceSDKCommon

/// A step of a login through another app (CO-165).
public struct IdentityEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable, Equatable {
    /// A request is about to be sent to the other app.
    case willSendRequest
    /// A request came from the other app.
    case didReceiveRequest
    /// The response is about to be sent.
    case willSendResponse
    /// The response came.
    case didReceiveResponse
    /// A login that the identity provider started has ended with this account.
    case didLogIn(UserAccountIdentity)
    /// The login failed here, or the other app refused.
    case didFail
  }

  /// What happened.
  public let kind: Kind
  /// The word of the command: `authrequest`, `authresponse`, `error`, `idpinit`; empty for a failure before there was one.
  public let command: String
  /// The parameters of the command as they were sent, without `code` and `state`.
  public let parameters: [String: String]
  /// Why it failed, for ``Kind/didFail``.
  public let error: (any Error)?

  init(_ kind: Kind, _ url: IdentityURL? = nil, error: (any Error)? = nil) {
    self.kind = kind
    self.error = error
    let text = url?.text ?? ""
    let halves = text.split(separator: "?", maxSplits: 1)
    command = halves.first?.split(separator: "/").last.map(String.init) ?? ""
    let pairs = halves.count > 1 ? PercentEncoding.pairs(ofForm: halves[1]) : []
    parameters = Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
      .filter { !["code", "state"].contains($0.key) }
  }
}
