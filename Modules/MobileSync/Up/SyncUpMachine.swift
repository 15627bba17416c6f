/// A state machine of one sync up run: it decides the next stage and its entries.
///
/// It has entry ids and counts, but no records, and does no I/O. In a run over trees an entry
/// represents a tree: it is the parent's.
struct SyncUpMachine: Sendable, Equatable {
  /// The next stage.
  enum Action: Sendable, Equatable {
    /// Recover the unacknowledged requests of earlier runs.
    case recover
    /// Compare the entries with the server's records.
    case checkConflicts
    /// Order the entries by their references.
    case order
    /// Cut a batch from the front of `waiting`. In the last pass, which has the records that close
    /// a cycle, all references exist, so no field is omitted.
    case cut(from: ArraySlice<Int64>, isLastPass: Bool)
    /// Upload the batch and apply the results.
    case upload
    /// Create the records again that the server has lost, and apply the results.
    case recreate
    /// Complete the batch, then store and report each of these percentages.
    case complete(progress: [Int])
    /// End the run. `leftOut` records were in none of the target's requests.
    case finish(leftOut: Int)
  }

  /// The result of a stage.
  enum Event: Sendable, Equatable {
    /// These entries are to be uploaded.
    case listed([Int64])
    case recovered
    case checked
    /// The entries level by level, each of which refers to earlier levels alone; nil if the order does not matter.
    case ordered([[Int64]]?)
    /// The batch has this number of the entries, from the front.
    case cut(count: Int)
    case uploaded(Upload)
    case recreated(Upload)
    case completed
  }

  /// The results of a batch, as far as later stages need them.
  struct Upload: Sendable, Equatable {
    /// Entries to upload with a later batch, because they now represent other records.
    var again: [Int64] = []
    /// Entries of which something was left out that is to be uploaded in the last pass.
    var incomplete: [Int64] = []
    /// Whether the server has lost records, which are to be created again.
    var hasLost = false
    /// The number of records that were in none of the target's requests.
    var leftOut = 0
  }

  private enum State: Sendable, Equatable {
    case new, recovering, checking, ordering, cutting, uploading, recreating, completing, finished
  }

  private var state = State.new
  private var ids: [Int64] = []
  /// The rest of the level, and the levels after it.
  private var rest: ArraySlice<Int64> = []
  private var levels: ArraySlice<[Int64]> = []
  /// The number of entries of the batch that are done with it.
  private var done = 0
  private var incomplete: Set<Int64> = []
  private var isLastPass = false
  private var leftOut = 0
  private var progress = SyncUpProgress(total: 0)

  /// Handles the result of a stage.
  ///
  /// - Returns: The next stage; nil if the event is not one of the current stage, and then nothing changes.
  mutating func handle(_ event: Event) -> Action? {
    switch (state, event) {
    case (.new, .listed(let ids)):
      self.ids = ids
      progress = SyncUpProgress(total: ids.count)
      // Without entries nothing can be recovered; a comparison also ends conflicts, and begins base versions.
      return ids.isEmpty ? enter(.checking, .checkConflicts) : enter(.recovering, .recover)
    case (.recovering, .recovered): return enter(.checking, .checkConflicts)
    case (.checking, .checked): return enter(.ordering, .order)
    case (.ordering, .ordered(let levels)):
      self.levels = (levels ?? [ids])[...]
      return next()
    case (.cutting, .cut(let count)) where (1...rest.count).contains(count):
      rest = rest.dropFirst(count)
      done = count
      return enter(.uploading, .upload)
    case (.uploading, .uploaded(let upload)):
      note(upload)
      return upload.hasLost ? enter(.recreating, .recreate) : complete()
    case (.recreating, .recreated(let upload)) where !upload.hasLost:
      note(upload)
      return complete()
    case (.completing, .completed): return next()
    default: return nil
    }
  }

  private mutating func enter(_ state: State, _ action: Action) -> Action {
    self.state = state
    return action
  }

  private mutating func note(_ upload: Upload) {
    rest += upload.again
    done -= upload.again.count
    incomplete.formUnion(upload.incomplete)
    leftOut += upload.leftOut
  }

  private mutating func complete() -> Action {
    enter(.completing, .complete(progress: progress.advance(by: max(done, 0))))
  }

  private mutating func next() -> Action {
    while rest.isEmpty, let level = levels.popFirst() { rest = level[...] }
    if rest.isEmpty, !isLastPass, !incomplete.isEmpty {
      isLastPass = true
      rest = incomplete.sorted()[...]
    }
    if rest.isEmpty { return enter(.finished, .finish(leftOut: leftOut)) }
    return enter(.cutting, .cut(from: rest, isLastPass: isLastPass))
  }
}
