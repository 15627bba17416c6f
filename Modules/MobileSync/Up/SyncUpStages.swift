/// The stages of a sync up, for one way of uploading: records one by one (``RecordStages``), or trees
/// (``TreeStages``). ``SyncUpMachine`` decides which is next, ``SyncUpRun`` calls it.
protocol SyncUpStages: Sendable {
  /// Checks the soups, unites entries that represent one record, and lists the entries to upload.
  mutating func list() async throws -> [Int64]

  /// Recovers the unacknowledged requests of earlier runs.
  mutating func recover(_ ids: [Int64]) async throws

  /// Finds the entries that may not be sent.
  mutating func checkConflicts(among ids: [Int64]) async throws

  /// The entries level by level, ordered by their references; nil if their order does not matter.
  mutating func order(_ ids: [Int64]) async throws -> [[Int64]]?

  /// Reads the next batch from the front of `waiting`, and completes those of its entries that need no request.
  ///
  /// - Returns: The number of entries that it has, one or more.
  mutating func cut(from waiting: ArraySlice<Int64>, isLastPass: Bool) async throws -> Int

  /// Uploads the batch, request by request, and applies the results of each before the next.
  mutating func upload() async throws -> SyncUpMachine.Upload

  /// Creates records of the batch again that the server has lost.
  mutating func recreate() async throws -> SyncUpMachine.Upload

  /// Does what remains of the batch: the dates of accepted records, the conflicts of refused ones.
  mutating func complete() async throws

  /// Does what remains of the run.
  mutating func finish() async throws
}
