import SalesforceSDKCommon

/// The three-way merge of one record, field by field: base version, entry and server's record.
///
/// A field that only one side changed takes that side's value. A field that both sides changed to
/// the same value is not in conflict. A field that both sides changed to different values keeps the
/// local value and is in conflict: its base version is kept until the conflict is resolved, so that
/// merging again gives the same result.
struct FieldMerge: Sendable, Equatable {
  /// The members that the entry takes from the server.
  private(set) var taken: [Member] = []
  /// The new base version.
  private(set) var base: JSONObject
  /// The fields that both sides have changed differently.
  private(set) var conflicts: [SyncConflict.Field] = []
  /// Whether the entry still differs from the server's record.
  private(set) var hasLocalChanges = false

  /// A member of an entry and its new value.
  struct Member: Sendable, Equatable {
    let key: String
    let value: JSONValue
  }

  /// Merges.
  ///
  /// - Parameters:
  ///   - base: The base version; nil if it is not known. Then a field that differs is in conflict,
  ///     unless the entry does not have it.
  ///   - theirs: The server's record, or some of its fields: what it lacks counts as unchanged there.
  init(base: JSONObject?, mine: JSONSlice, theirs: JSONObject, names: SyncFieldNames) {
    self.base = base ?? [:]
    var seen: Set<String> = []
    for (key, their) in theirs where key != names.id {
      seen.insert(key)
      if key == SyncKeys.attributes {
        taken.append(Member(key: key, value: their))
      } else if !SyncKeys.neverSent.contains(key) {
        merge(key, base?[key], mine[key]?.value, their, isServers: names.isServers(key))
      }
    }
    let rest = mine.members.lazy.filter { key, _ in
      !seen.contains(key) && key != names.id && !names.isServers(key)
        && !SyncKeys.neverSent.contains(key)
    }
    if rest.contains(where: { !ServerEquality.same($0.value.value, base?[$0.key]) }) {
      hasLocalChanges = true
    }
  }

  private mutating func merge(
    _ key: String, _ base: JSONValue?, _ mine: JSONValue?, _ their: JSONValue, isServers: Bool
  ) {
    // What the entry does not have was never touched here: it is not sent either.
    if isServers || mine == nil {
      self.base[key] = their
      taken.append(Member(key: key, value: their))
    } else if ServerEquality.same(mine, their) {
      self.base[key] = their
      // The server may have put it into another form.
      if mine != their { taken.append(Member(key: key, value: their)) }
    } else if let base, ServerEquality.same(mine, base) {
      self.base[key] = their
      taken.append(Member(key: key, value: their))
    } else if let base, ServerEquality.same(their, base) {
      hasLocalChanges = true
    } else if self.base.hasForm(key, their) {
      self.base[key] = their
      hasLocalChanges = true
    } else {
      hasLocalChanges = true
      conflicts.append(SyncConflict.Field(name: key, base: base, mine: mine, theirs: their))
    }
  }

  /// The fields in which the server's record differs from what was agreed on, for a record that was
  /// deleted locally.
  static func changesThere(
    base: JSONObject?, mine: JSONSlice, theirs: JSONObject, names: SyncFieldNames
  ) -> [SyncConflict.Field] {
    theirs.compactMap { key, their in
      if key == names.id || names.isServers(key) || SyncKeys.neverSent.contains(key) {
        return nil
      }
      // The entry is as it was when it was deleted; without a base version it is the best that is
      // known.
      let known = base == nil ? mine[key]?.value : base?[key]
      guard let known, !ServerEquality.same(known, their), base?.hasForm(key, their) != true else {
        return nil
      }
      return SyncConflict.Field(name: key, base: known, mine: nil, theirs: their)
    }
  }

  /// The fields of an entry that differ from what was agreed on.
  static func changesHere(
    base: JSONObject, mine: JSONSlice, names: SyncFieldNames
  ) -> [SyncConflict.Field] {
    mine.members.compactMap { key, value in
      if key == names.id || names.isServers(key) || SyncKeys.neverSent.contains(key) {
        return nil
      }
      let value = value.value
      if ServerEquality.same(value, base[key]) { return nil }
      return SyncConflict.Field(name: key, base: base[key], mine: value, theirs: nil)
    }
  }
}

extension FieldMerge {
  /// The fields that the entry has and in which the server's record differs from it, whichever side changed
  /// them.
  static func differences(
    base: JSONObject?, mine: JSONSlice, theirs: JSONObject, names: SyncFieldNames
  ) -> [SyncConflict.Field] {
    theirs.compactMap { key, their in
      guard names.isData(key), let mine = mine[key]?.value, !ServerEquality.same(mine, their) else {
        return nil
      }
      return SyncConflict.Field(name: key, base: base?[key], mine: mine, theirs: their)
    }
  }

  /// Whether the server's record differs from the base version in a field that the entry has; a field that
  /// either of them lacks is not known to differ.
  static func isChangedThere(
    base: JSONObject, mine: JSONSlice, theirs: JSONObject, names: SyncFieldNames
  ) -> Bool {
    theirs.contains { key, their in
      guard names.isData(key), let known = base[key], mine[key] != nil else { return false }
      return !ServerEquality.same(known, their) && !base.hasForm(key, their)
    }
  }
}

extension JSONObject {
  /// Whether a base version has the value of a field from an own upload since the last download, and a value of the
  /// server's is another form of it.
  func hasForm(_ field: String, _ stored: JSONValue) -> Bool {
    guard let sent = self[SyncKeys.uploaded]?[field], self[field] == sent else { return false }
    return ServerEquality.mayBeStored(sent, as: stored)
  }

  /// Whether a base version has the same values as the server's record, in all fields of the record that
  /// either side may change.
  func isSame(as theirs: JSONSlice, _ names: SyncFieldNames) -> Bool {
    theirs.members.allSatisfy { key, value in
      !names.isData(key) || self[key].map { ServerEquality.same($0, value.value) } ?? false
    }
  }
}
