/// Which records a user may read and change, as conditions in SQL.
///
/// A user who may do everything has none of these: his queries stay as they are.
struct RecordAccess: Sendable {
  let userID: String
  let profile: MockOrgProfile

  /// A chain of parents longer than this decides nothing: the platform knows three.
  private static let maxParents = 5

  /// The condition that holds for the records of `object` with which the user may do what `level` says;
  /// nil if that is every record.
  ///
  /// - Parameter alias: What the statement calls the object's table.
  func condition(
    _ level: MockOrgSharing.Level, on object: ObjectSchema, as alias: String, in schema: OrgSchema
  ) -> String? {
    condition(level, object, alias, schema, depth: 0)
  }

  private func condition(
    _ level: MockOrgSharing.Level, _ object: ObjectSchema, _ alias: String, _ schema: OrgSchema,
    depth: Int
  ) -> String? {
    if grantsAll(level, of: object) || depth > Self.maxParents { return nil }
    let owned =
      object.field(named: "OwnerId") == nil ? nil : "\(alias).\"OwnerId\" = '\(userID)'"
    if let open = object.effectiveSharing.level {
      if open >= level { return nil }
      let ways = [owned, level == .read ? throughChildren(object, alias, schema) : nil]
        .compactMap(\.self)
      return ways.isEmpty ? "0" : "(\(ways.joined(separator: " OR ")))"
    }
    guard let reference = object.decidingReference,
      let parent = reference.referenceTo.first.flatMap({ schema.object(named: $0) })
    else { return nil }
    let parentAlias = "\(alias)p"
    // To delete a detail is to change its master.
    guard
      let inner = condition(
        min(level, .edit), parent, parentAlias, schema, depth: depth + 1)
    else { return nil }
    let column = "\(alias).\(RecordTable.quoted(reference.name))"
    var ways = [
      "EXISTS (SELECT 1 FROM \(parent.table.name) AS \(parentAlias)"
        + " WHERE \(parentAlias).\"Id\" = \(column) AND \(inner))"
    ]
    // Without a parent there is only the owner.
    if let owned { ways.append("(\(column) IS NULL AND \(owned))") }
    return "(\(ways.joined(separator: " OR ")))"
  }

  private func grantsAll(_ level: MockOrgSharing.Level, of object: ObjectSchema) -> Bool {
    func names(_ names: Set<String>) -> Bool {
      names.contains { $0.lowercased() == object.name.lowercased() }
    }
    if profile.modifiesAllData || names(profile.modifiesAllOf) { return true }
    return level == .read && (profile.viewsAllData || names(profile.viewsAllOf))
  }

  /// The objects whose owners may read the account that their record belongs to.
  private static let childrenOfAccounts = ["Case", "Contact", "Opportunity"]

  /// The owner of a contact, case or opportunity may read its account.
  private func throughChildren(
    _ object: ObjectSchema, _ alias: String, _ schema: OrgSchema
  ) -> String? {
    guard object.name == "Account" else { return nil }
    let ways = Self.childrenOfAccounts.compactMap { name -> String? in
      guard let child = schema.object(named: name), child.field(named: "AccountId") != nil,
        child.field(named: "OwnerId") != nil
      else { return nil }
      return "\(alias).\"Id\" IN (SELECT \"AccountId\" FROM \(child.table.name)"
        + " WHERE \"OwnerId\" = '\(userID)' AND \"IsDeleted\" = 0)"
    }
    return ways.isEmpty ? nil : ways.joined(separator: " OR ")
  }
}

extension ObjectSchema {
  /// The default that holds: what was set, or else the parent's for a detail without an owner.
  var effectiveSharing: MockOrgSharing {
    if let sharing { return sharing }
    return field(named: "OwnerId") == nil && decidingReference?.cascadeDelete == true
      ? .controlledByParent : .readWrite
  }

  /// The reference to the parent that decides who may see a record.
  var decidingReference: FieldSchema? {
    let references = fields.filter { field in
      field.type == .reference && field.referenceTo.count == 1
        && !["User", "RecordType", "Profile", name].contains(field.referenceTo[0])
    }
    return references.first { $0.cascadeDelete && !$0.nillable } ?? references.first
  }
}

extension OrgSchema {
  /// The condition that holds for the records with which the schema's user may do what `level` says; nil
  /// if that is every record.
  func condition(
    _ level: MockOrgSharing.Level, on object: ObjectSchema, as alias: String
  ) -> String? {
    access?.condition(level, on: object, as: alias, in: self)
  }

  /// The same, joined to a statement's other conditions.
  func andCondition(
    _ level: MockOrgSharing.Level, on object: ObjectSchema, as alias: String
  ) -> String {
    condition(level, on: object, as: alias).map { " AND \($0)" } ?? ""
  }
}
