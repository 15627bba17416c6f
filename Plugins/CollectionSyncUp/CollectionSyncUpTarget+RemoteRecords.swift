public import MobileSync

extension CollectionSyncUpTarget: RemoteRecordFetching {
  public func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.inBulk(of: records, fields: fields, in: context)
  }
}

extension CollectionSyncUpTarget: ExternalIdFinding {
  public func remoteRecords(
    byExternalIdOf records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.byExternalId(
      of: records, fields: fields, idFieldName: idFieldName, in: context)
  }
}
