/// A master key in flight from one keeper to another, step by step.
///
/// Everything that a step needs to know is on disk when the step before it has returned, so a process may end between
/// any two, and within each: at every moment the recorded keeper has the key.
struct MasterKeyMove: ~Copyable {
  /// The steps in their order.
  enum Step: CaseIterable {
    /// The new keeper stores the key; the old one still has it.
    case keep
    /// The key is read back from the new keeper and compared.
    case verify
    /// The folder records the new keeper, and that the old one still has the key.
    case record
    /// The old keeper forgets the key.
    case forget
    /// The folder records that the old keeper has forgotten it.
    case finish
  }

  private let keys: KeptMasterKey
  private let old: any MasterKeyKeeper
  private let new: any MasterKeyKeeper
  private let key: MasterKey
  private let lock: FileLock
  private var rest = Step.allCases[...]

  init(
    of keys: KeptMasterKey, from old: any MasterKeyKeeper, to new: any MasterKeyKeeper,
    key: MasterKey, lock: consuming FileLock
  ) {
    self.keys = keys
    self.old = old
    self.new = new
    self.key = key
    self.lock = lock
  }

  /// Takes the next step.
  ///
  /// - Returns: The step; nil if all are done.
  mutating func next() throws(SecretStoreError) -> Step? {
    guard let step = rest.first else { return nil }
    switch step {
    case .keep: try new.keep(key)
    case .verify:
      guard try new.load() == key else {
        throw SecretStoreError(
          .inputOutput,
          "The keeper '\(new.name)' does not return the key that it was given. The key stays with '\(old.name)'."
        )
      }
    case .record: try keys.write(KeyRecord(keeper: new.name, leaving: old.name))
    case .forget: try old.forget()
    case .finish: try keys.write(KeyRecord(keeper: new.name))
    }
    rest = rest.dropFirst()
    return step
  }
}

extension KeptMasterKey {
  /// Moves the master key to another keeper. The secrets stay as they are.
  ///
  /// The new keeper has the key before the folder records it, and the old one forgets it only
  /// afterwards: a kill or a loss of power at any moment loses no key, and ``finishMove()`` or the
  /// same call completes the move. Backups of the old keeper's data still contain the key.
  ///
  /// - Parameter name: The name of one of the keepers. Moving to the keeper that already has the
  ///   key succeeds.
  /// - Throws: ``SecretStoreError`` `otherKeeper` if the keeper does not exist; `missingMasterKey`
  ///   if there is no key yet; `occupied` if the new keeper has another key; `locked`; the error of
  ///   either keeper.
  public func move(to name: String) throws(SecretStoreError) {
    try finishMove()
    guard var move = try startMove(to: name) else { return }
    while try move.next() != nil {}
  }

  /// Removes the key from the former keeper if a move was interrupted before that step.
  ///
  /// - Returns: Whether there was such a move.
  /// - Throws: As ``move(to:)``. The key stays where it is recorded.
  @discardableResult
  public func finishMove() throws(SecretStoreError) -> Bool {
    guard try record()?.leaving != nil else { return false }
    let lock = try lock()
    return try lock.whileHeld { () throws(SecretStoreError) in
      guard let record = try record(), let leaving = record.leaving else { return false }
      let old = try keeper(named: leaving)
      // Only the same key may go: the record may have been changed by someone who wants this one deleted.
      guard leaving != record.keeper, let key = try keeper(named: record.keeper).load(),
        try old.load() ?? key == key
      else {
        throw SecretStoreError(
          .missingMasterKey,
          "\(file.path) says that the master key was moved to '\(record.keeper)', which does not have it. The one in "
            + "'\(leaving)' stays. Restore the other from a backup, or delete the record.")
      }
      try old.forget()
      try write(KeyRecord(keeper: record.keeper))
      return true
    }
  }

  /// A move that has taken no step yet; nil if the key is there already.
  func startMove(to name: String) throws(SecretStoreError) -> MasterKeyMove? {
    let new = try keeper(named: name)
    let lock = try lock()
    let old: any MasterKeyKeeper
    let key: MasterKey?
    if let record = try record() {
      old = try keeper(named: record.keeper)
      key = try old.load()
    } else {
      let found = try unrecordedKeeper()
      old = found?.keeper ?? new
      key = found?.key
    }
    guard let key else {
      throw SecretStoreError(
        .missingMasterKey,
        "There is no master key to move next to \(file.path). Restore it from a backup if it is missing."
      )
    }
    guard old.name != name else {
      try write(KeyRecord(keeper: name))
      return nil
    }
    return MasterKeyMove(of: self, from: old, to: new, key: key, lock: lock)
  }
}
