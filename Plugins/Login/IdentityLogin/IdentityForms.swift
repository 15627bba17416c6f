import Foundation
import IdentityProviderURLs
import SalesforceSDKCommon
import SalesforceSDKCore

extension IdentityURL {
  /// The command in a URL that another process sent; nil for a URL of another grammar.
  static func command(in text: String) throws(IdentityLoginError) -> IdentityURL? {
    do throws(IdentityURLError) {
      return try IdentityURL(parsing: text)
    } catch {
      throw IdentityLoginError(.malformed, error.message, cause: error)
    }
  }
}

extension IdentityCommand {
  /// Whose handler takes it.
  var kind: URLHandlers.Kind {
    switch self {
    case .authRequest: .authRequest
    case .authResponse: .authResponse
    case .failure: .failure
    case .login: .login
    case .loginWithCode: .loginWithCode
    }
  }
}

extension UserAccountIdentity {
  init(_ user: IdentityUser) {
    self.init(userId: user.userId, organizationId: user.organizationId)
  }
}

extension LoginServer {
  /// The server as a command names it: without its scheme, unless that is http.
  var hostText: String { url.scheme == "https" ? domain : url.absoluteString }
}

extension IdentityLoginError {
  /// The error of the app that refuses.
  init(_ refusal: IdentityRefusal) {
    self.init(
      .refused, "The login was refused with \(refusal.code): \(refusal.description)",
      reason: refusal.code)
  }
}

/// The parameters of an address.
struct QueryItems {
  private let pairs: [(name: String, value: String)]

  init(_ address: String) {
    let query = address.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1).dropFirst().first
    pairs = query.map { PercentEncoding.pairs(ofForm: $0) } ?? []
  }

  subscript(name: String) -> String? {
    pairs.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
  }
}
