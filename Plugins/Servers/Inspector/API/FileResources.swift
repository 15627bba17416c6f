import FileSync
import SalesforceSDKCommon

// Files of synced records, and those that wait for their upload. Their contents are not shown.
extension InspectorResources {
  static let fileRoutes: [InspectorRoute] = [
    ("GET", "stores/*/files", { me, _, ids in .json(try await me.files(ids[0])) })
  ]

  /// The maximum number of files in a response.
  private static let shownFiles = 500

  private func files(_ id: String) async throws -> JSONValue {
    let store = try await stores.open(id).store
    guard let overview = try await FileOverview.read(from: store, limit: Self.shownFiles) else {
      return ["files": [], "total": 0, "queued": [], "usedBytes": 0]
    }
    return [
      "files": .array(overview.files.map(Self.document)),
      "total": .integer(Int64(overview.fileCount)),
      "queued": .array(overview.queued.map(Self.document)),
      "usedBytes": .integer(overview.usedBytes),
    ]
  }

  private static func document(of file: FileOverview.File) -> JSONValue {
    [
      "id": .string(file.id), "title": .string(file.title),
      "extension": file.fileExtension.map { .string($0) } ?? .null,
      "attachment": .bool(file.isAttachment), "bytes": .integer(file.size),
      "storedBytes": .integer(file.storedBytes), "state": .string(file.state.description),
      "records": .array(file.recordIds.map { .string($0) }),
      "problem": file.problem.map { .string($0) } ?? .null,
    ]
  }

  private static func document(of file: FileOverview.Queued) -> JSONValue {
    [
      "id": .string(file.id), "name": .string(file.name), "bytes": .integer(file.size),
      "state": .string(file.state.description),
      "parent": file.parentId.map { .string($0) } ?? .null,
      "reason": file.reason.map { .string($0) } ?? .null,
    ]
  }
}
