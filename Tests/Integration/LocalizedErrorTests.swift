import Foundation
import SalesforceHybridSDK
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import Testing

@testable import EinsteinModels
@testable import FieldforceInspector
@testable import HybridServer
@testable import MobileSync
@testable import MobileSyncTestSupport
@testable import SalesforceMockOrg
@testable import SalesforceSDKCommon

/// What does an error say in an alert that shows its `localizedDescription`?
@Suite struct LocalizedErrorTests {
  private static let said = "Cannot do it. Do something else."

  /// One error of each public type.
  private func errors() async throws -> [any Error] {
    var errors: [any Error] = [
      AccountError(.busy, Self.said), OAuthError(.accessDenied, Self.said),
      RestError(.truncated, Self.said), TransportError(.unreachable, Self.said),
      EncryptionError(.diskFull, Self.said), SyncError(.closed, Self.said),
      SecretStoreError(.locked, Self.said), SmartStoreError(.closed, Self.said),
      LogError(.damaged, Self.said), PreferencesError(.busy, Self.said),
      MockOrgError(.invalidData, Self.said), HybridError(.failed, Self.said),
      HybridServerError(.noFolder, Self.said), RescueError(.damaged, Self.said),
      InspectorError(.noPage, Self.said),
      ConformanceFailure(Self.said), JWTAccessToken.Failure.invalidFormat,
      JWTAccessToken.Failure.invalidBase64,
    ]
    let config = SyncsConfig(
      parsing: Array("{".utf8), file: "syncs.json", registry: SyncTargetRegistry())
    errors.append(try #require(config.problems.first))
    let refusal = #"[{"errorCode": "BAD", "message": "\#(Self.said)"}]"#
    errors.append(
      try #require(ModelsError(RestResponse(status: 400, body: Array(refusal.utf8)))))
    let failures: [() throws -> Void] = [
      { _ = try JSONSlice(parsing: "{") }, { _ = try BootConfiguration(parsing: Array("[]".utf8)) },
    ]
    for failure in failures {
      do {
        try failure()
        Issue.record("it did not fail")
      } catch {
        errors.append(error)
      }
    }
    return errors
  }

  @Test func `every public error type says its message, and none the system's empty sentence`()
    async throws
  {
    let errors = try await errors()
    for error in errors {
      let text = error.localizedDescription
      #expect(!text.contains("operation could not be completed"), "\(type(of: error))")
      #expect(text.contains(" "), "\(type(of: error))")
      if "\(error)".contains(Self.said) { #expect(text.contains(Self.said)) }
    }
    let known = Set(errors.map { "\(type(of: $0))" })
    let declared = try Self.declaredErrors()
    #expect(!declared.isEmpty)
    #expect(declared.subtracting(known).isEmpty, "Add one of each to the list above.")
  }

  /// The names of the public error types in the sources that are no `FieldforceError`s, which say their message.
  private static func declaredErrors() throws -> Set<String> {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var types: Set<String> = []
    for folder in ["Modules", "Plugins", "Testing/MockOrg", "Testing/MobileSyncTestSupport"] {
      let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      while let path = paths?.nextObject() as? String {
        guard path.hasSuffix(".swift") else { continue }
        let text = try String(
          contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
        let form =
          #/(?m)^\s*public (?:struct|enum|final class|actor) (\w+):[^{\n]*\bError\b/#
        for match in text.matches(of: form) { types.insert(String(match.1)) }
      }
    }
    return types
  }

  @Test func `an error that the server caused carries the server's line, in an alert alone`()
    async throws
  {
    try await FieldDevice.with { device in
      let query = "SELECT Id, Nmae FROM Account"
      let refused = await #expect(throws: RestError.self) {
        _ = try await device.client.send(.query(query))
      }
      let run = try await device.manager.syncDown(
        target: try SoqlSyncDownTarget(query: query),
        options: SyncOptions(mergeMode: .leaveIfChanged), soupName: FieldDevice.soup)
      let failed = await #expect(throws: SyncError.self) { _ = try await run.finished() }
      for error in [refused as (any Error)?, failed] {
        let error = try #require(error)
        let lines = error.localizedDescription.split(separator: "\n")
        #expect(lines.contains("INVALID_FIELD:"))
        #expect(lines.contains { $0.hasPrefix("No such column 'Nmae'") })
        // The caret stands below the name.
        let caret = try #require(lines.first { $0.hasSuffix("^") })
        let above = try #require(lines.first { $0.contains("Nmae") })
        let name = try #require(above.firstRange(of: "Nmae")).lowerBound
        #expect(caret.count - 1 >= above.distance(from: above.startIndex, to: name))
        #expect(!"\(error)".contains("No such column"))
      }
    }
  }
}
