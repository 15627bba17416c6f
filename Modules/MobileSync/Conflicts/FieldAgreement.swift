import SalesforceSDKCommon

/// Whether a record of the server is the one that was sent.
///
/// Fields of related records (names with dots) and values that are arrays or objects are not compared.
enum FieldAgreement {
  /// Whether every value that was sent is the server's too, as the server keeps values. False if
  /// nothing but empty values was sent, since those say nothing.
  static func holds(_ sent: [(name: String, value: JSONSlice)], _ made: JSONSlice) -> Bool {
    var evidence = false
    for (name, value) in sent where !name.contains(".") {
      guard agrees(value, made[name]) else { return false }
      evidence = evidence || !isEmpty(value)
    }
    return evidence
  }

  /// Whether every value that was sent is the server's too, or has another form of the server's. False if nothing but
  /// empty values was sent.
  static func mayHold(_ sent: [(name: String, value: JSONSlice)], _ made: JSONSlice) -> Bool {
    let (agreeing, counted) = extent(sent, made)
    return counted > 0 && agreeing == counted
      && sent.allSatisfy { name, value in
        name.contains(".") || !isEmpty(value) || agrees(value, made[name])
      }
  }

  /// Whether the value of a field that was sent is the server's too, or has another form of the server's.
  static func mayAgree(_ sent: (name: String, value: JSONSlice), _ made: JSONSlice) -> Bool {
    extent([sent], made) == (1, 1)
  }

  /// The number of sent values that are not empty, and the number of them that the server has.
  /// Values in another form of the server count as equal.
  static func extent(
    _ sent: [(name: String, value: JSONSlice)], _ made: JSONSlice
  ) -> (agreeing: Int, counted: Int) {
    var (agreeing, counted) = (0, 0)
    for (name, value) in sent where !name.contains(".") && !isEmpty(value) {
      counted += 1
      let stored = made[name]
      if agrees(value, stored) || ServerEquality.mayBeStored(value.value, as: stored?.value) {
        agreeing += 1
      }
    }
    return (agreeing, counted)
  }

  /// The values among those of the server that are another form of what was sent; nil unless every value that was
  /// sent is the server's too, or has such a form, and there is none that cannot be compared. nil if nothing was
  /// sent.
  static func forms(
    of sent: [(name: String, value: JSONSlice)], _ made: JSONSlice
  ) -> JSONObject? {
    if sent.isEmpty { return nil }
    var forms: JSONObject = [:]
    for (name, value) in sent {
      if name.contains(".") || value.kind == .array || value.kind == .object { return nil }
      let (value, stored) = (value.value, made[name]?.value)
      if ServerEquality.isStored(value, as: stored) { continue }
      guard ServerEquality.mayBeStored(value, as: stored) else { return nil }
      forms[name] = stored
    }
    return forms
  }

  /// The values of the server that are the same as what was sent, but spelled otherwise: without the blanks around a
  /// text, or null for an empty one.
  static func spellings(
    of sent: [(name: String, value: JSONSlice)], _ made: JSONSlice
  ) -> JSONObject {
    var spellings: JSONObject = [:]
    for (name, value) in sent where !name.contains(".") {
      let (value, stored) = (value.value, made[name]?.value)
      if let stored, stored != value, ServerEquality.isStored(value, as: stored) {
        spellings[name] = stored
      }
    }
    return spellings
  }

  private static func agrees(_ sent: JSONSlice, _ made: JSONSlice?) -> Bool {
    if sent.kind == .array || sent.kind == .object { return made.map { !isEmpty($0) } ?? false }
    return ServerEquality.isStored(sent.value, as: made?.value)
  }

  /// Whether a value says nothing: the server keeps an empty text as null.
  static func isEmpty(_ value: JSONSlice) -> Bool {
    ServerEquality.same(value.value, nil)
  }
}
