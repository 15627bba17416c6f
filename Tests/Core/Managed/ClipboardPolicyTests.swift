import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// When does a policy clear the clipboard?
@Suite struct ClipboardPolicyTests {
  private func manager(
    paste: JSONValue?, managed: String? = nil, in folder: TemporaryFolder
  ) async throws -> UserAccountManager {
    var account = TestOrg().account()
    if let paste {
      account.profile.raw["custom_attributes"] = ["DISABLE_EXTERNAL_PASTE": paste]
    }
    var options = UserAccountManager.Options()
    if let managed {
      let file = folder.file("managed.json")
      try Data(managed.utf8).write(to: file)
      chmod(file.path, 0o644)
      options.managed = ManagedConfigurationFile(
        files: [file], owner: geteuid(), markers: FeatureMarkers())
    }
    return try await TestOrg().manager([account], options: options)
  }

  @Test(
    .covers("CO-176", "HT-83", "CO-14.2"),
    arguments: [
      (nil, nil, false, false), ("true", nil, true, true), ("false", nil, false, false),
      (nil, #"{"ClearClipboardOnBackground": true}"#, true, false),
      ("true", #"{"ClearClipboardOnBackground": false}"#, true, true),
    ] as [(JSONValue?, String?, Bool, Bool)])
  func `an attribute of the org or the managed configuration requires it`(
    paste: JSONValue?, managed: String?, clears: Bool, isConfined: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let accounts = try await manager(paste: paste, managed: managed, in: folder)
    let policy = try await accounts.clipboardPolicy
    #expect(policy.clearsOnBackground == clears && policy.isConfinedToApp == isConfined)
    let calls = Mutex(0)
    let outcome = await accounts.clearClipboard { calls.withLock { $0 += 1 } }
    #expect(outcome == (clears ? .cleared : .notRequired))
    #expect(calls.withLock { $0 } == (clears ? 1 : 0))
    // A program without a clipboard never reports that it cleared one.
    #expect(await accounts.clearClipboard(nil) == (clears ? .unsupported : .notRequired))
  }

  @Test(.covers("CO-176"))
  func `unknown restrictions clear it, and a policy goes with its user`() async throws {
    let folder = try TemporaryFolder()
    let damaged = try await manager(paste: nil, managed: "[]", in: folder)
    await #expect(throws: OAuthError.self) { try await damaged.clipboardPolicy }
    #expect(await damaged.clearClipboard {} == .cleared)
    let accounts = try await manager(paste: true, in: folder)
    #expect(try await accounts.clipboardPolicy.isConfinedToApp)
    try await accounts.logOut(TestOrg.identity)
    #expect(await accounts.clearClipboard {} == .notRequired)
  }
}
