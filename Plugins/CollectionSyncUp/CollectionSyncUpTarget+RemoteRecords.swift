public import MobileSync

extension CollectionSyncUpTarget: RemoteRecordFetching {
  public func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.inBulk(of: records, fields: fields, in: context)
  }
}
