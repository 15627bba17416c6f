public import MobileSync

extension SoqlSyncDownTarget: FieldBackfilling {
  /// Returns the fields that this query selects and the other does not. nil if another clause
  /// differs, or if a query selects more than names.
  public func addedFields(since other: SoqlSyncDownTarget) -> [String]? {
    var mine = SOQLMutator(query)
    var theirs = SOQLMutator(other.query)
    guard idFieldName == other.idFieldName,
      modificationDateFieldName == other.modificationDateFieldName,
      let fields = mine.selectedFields, let old = theirs.selectedFields
    else { return nil }
    mine.replaceSelectFields(idFieldName)
    theirs.replaceSelectFields(idFieldName)
    guard mine == theirs else { return nil }
    return SOQLNames.missing(fields, in: old)
  }

  /// Returns the same query with fewer fields.
  public func narrowed(to fields: [String]) throws -> SoqlSyncDownTarget {
    var narrow = SOQLMutator(query)
    narrow.replaceSelectFields(
      ([idFieldName] + fields.filter { !SOQLNames.areSame($0, idFieldName) }).joined(separator: ",")
    )
    return try SoqlSyncDownTarget(
      query: narrow.soql, maxBatchSize: maxBatchSize, idFieldName: idFieldName,
      modificationDateFieldName: modificationDateFieldName, partitions: partitions,
      partitionsFrom: partitionsFrom, deletionsFrom: deletionsFrom)
  }
}
