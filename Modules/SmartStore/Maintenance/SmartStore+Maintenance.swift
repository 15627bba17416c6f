extension SmartStore {
  /// Checks the tag of every page, SQLite's structures, and that index columns and full-text rows agree with
  /// the entries. Findings are returned in the report, not thrown; nothing is changed.
  ///
  /// Paths that ``SmartStore/alterSoup(named:indexSpecs:reIndexData:)`` left unindexed on request
  /// are findings of kind ``StoreReport/Finding/Kind/notIndexed``, which are not damage.
  ///
  /// Reads continue during the check; writes wait, about a second for 200 MB.
  ///
  /// - Throws: ``SmartStoreError`` `closed`, `io` if the check could not run; `readOnly` for a
  ///   store that was opened read-only, because only the writer can check full text and pages.
  public func verify() async throws(SmartStoreError) -> StoreReport {
    try checkOpen()
    try checkWritable()
    let result = await StoreQueue.run { [database, diagnostics, files] in
      Result { () throws(SmartStoreError) in
        var report = StoreReport()
        try database.verify(into: &report, diagnostics: diagnostics, files: files)
        return report
      }
    }
    return try result.get()
  }
}
