import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

/// CO-31, CO-32, BX-4: the server has rotated a refresh token, and its response never arrives.
struct LostRefreshTests {
  @Test(.covers("CO-31", "BX-4"), arguments: [true, false])
  func `a lost response costs a login only where the server shows no mercy`(forgives: Bool)
    async throws
  {
    try await FieldDevice.with({
      $0.rotatesRefreshTokens = true
      $0.forgivesLostRefreshes = forgives
    }) { device in
      try await device.create(["Name": "a"])
      device.org.expireAccessTokens()
      device.org.add(MockOrgFault(path: "/oauth2/token", action: .dropAfterCommit))
      let lost = await #expect(throws: OAuthError.self) { try await device.client.send(.limits()) }
      #expect(lost?.code == .refreshFailed)
      #expect(await device.accounts.current?.loginState == .loggedIn)
      if forgives {
        #expect(try await device.client.send(.limits()).status == 200)
        #expect(await device.accounts.current?.loginState == .loggedIn)
      } else {
        let ended = await #expect(throws: OAuthError.self) {
          try await device.client.send(.limits())
        }
        #expect(ended?.code.effect == .sessionEnded)
        #expect(await device.accounts.current?.loginState == .notLoggedIn)
      }
      // Nothing was wiped in either case.
      #expect(try await device.dirtyRows().count == 1)
    }
  }
}
