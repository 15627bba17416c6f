import CryptoExtras
import Foundation
import LoopbackLogin
public import SalesforceMockOrg
import SalesforceSDKCore
import Synchronization

extension AuthSettings {
  /// Runs `body` with the settings of a mock org that a ``ScriptedPerson`` logs in to.
  ///
  /// - Parameter adjust: Changes the options of the org.
  public static func withMockOrg<Result: Sendable>(
    _ adjust: (inout MockOrgOptions) -> Void = { _ in },
    _ body: @Sendable (AuthSettings, MockOrg) async throws -> Result
  ) async throws -> Result {
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    var options = MockOrgOptions()
    let otherApp = "3MVG9otherAppOfTheSample"
    options.clientKeys = [options.clientId: key.publicKey.pemRepresentation]
    options.acceptsUncheckedAssertions = false
    options.otherClientIds.insert(otherApp)
    adjust(&options)
    return try await SalesforceMockOrg.withMockOrg(options) { org, server in
      let info = server.info
      let loopback = "http://127.0.0.1:0/callback"
      var settings = AuthSettings(
        server: try LoginServer(info.url),
        app: ConnectedApp(clientId: info.clientId, redirectURI: loopback),
        presenter: { Self.presenter(of: $0, ScriptedPerson(info)) },
        showDeviceCode: { try await ScriptedPerson(info).approve($0) })
      settings.otherApp = ConnectedApp(
        clientId: otherApp, redirectURI: loopback, usesHybridGrants: false)
      settings.clientSecret = info.clientSecret
      settings.signingKey = key.pemRepresentation
      settings.username = info.username
      settings.tokens = (info.accessToken, info.refreshToken, try LoginServer(info.instanceUrl))
      return try await body(settings, org)
    }
  }

  /// A browser that listens for its redirect, except where its address is pasted, or has the tokens in a fragment, which
  /// only the script of a page could send.
  private static func presenter(
    of flow: AuthFlow, _ person: ScriptedPerson
  ) -> any LoginPresenter {
    guard [.pasted, .userAgent].contains(flow) else {
      return LoopbackLoginPresenter { try await person.open($0) }
    }
    let page = Shown()
    return PastedLoginPresenter(
      show: { url in page.url.withLock { $0 = url } },
      read: {
        guard let url = page.url.withLock({ $0 }) else { return nil }
        return try await person.open(url, upTo: "http://127.0.0.1:0/callback")
      })
  }

  private final class Shown: Sendable {
    let url = Mutex<URL?>(nil)
  }
}
