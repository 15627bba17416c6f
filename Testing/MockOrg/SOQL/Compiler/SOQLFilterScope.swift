import GRDB

/// What `USING SCOPE` names: the records of an object that concern the user.
enum SOQLFilterScope: String, CaseIterable, Sendable {
  case everything
  case mine
  case mineAndMyGroups = "mine_and_my_groups"
  case delegated
  case team
  case scopingRule = "scopingrule"
  case mru
  case myTerritory = "my_territory"
  case myTeamTerritory = "my_team_territory"

  /// The scope of a name in any case.
  init?(named name: String) { self.init(rawValue: name.lowercased()) }

  /// The scope's name in a describe.
  var name: String { self == .scopingRule ? "scopingRule" : rawValue }

  /// The scopes that a describe of `object` lists, with their labels, in order of their names.
  static func listed(for object: ObjectSchema) -> [(scope: SOQLFilterScope, label: String)] {
    let plural = object.labelPlural.lowercased()
    let labels: [(SOQLFilterScope, String)] = [
      (.delegated, "My delegated \(plural)"), (.everything, "All \(plural)"),
      (.mine, "My \(plural)"), (.mineAndMyGroups, "My \(plural) and those of my groups"),
      (.scopingRule, "Filter by scope"), (.team, "My team's \(plural)"),
    ]
    return labels.filter { scope, _ in
      scope.isSupported(by: object) && (scope != .delegated || delegable.contains(object.name))
    }
  }

  /// Activities are what users delegate.
  private static let delegable: Set<String> = ["Event", "Task"]
  /// The objects that belong to territories.
  private static let territorial: Set<String> = ["Account", "Lead", "Opportunity"]
  /// The standard objects that scoping rules are for, besides custom ones.
  private static let scoped: Set<String> = [
    "Account", "Case", "Contact", "Event", "Lead", "Opportunity", "Task",
  ]

  /// Whether queries of `object` can name the scope.
  func isSupported(by object: ObjectSchema) -> Bool {
    let isOwned = object.field(named: "OwnerId") != nil
    return switch self {
    case .everything: true
    case .mru: object.queryable
    case .mine, .team: isOwned
    case .mineAndMyGroups: object.name == "ProcessInstanceWorkitem"
    case .delegated: isOwned && object.field(named: "CreatedById") != nil
    case .scopingRule: isOwned && (object.custom || Self.scoped.contains(object.name))
    case .myTerritory, .myTeamTerritory: Self.territorial.contains(object.name)
    }
  }

  /// The condition on the records of `alias`; nil if all belong to the scope.
  ///
  /// The org has no scoping rules, so that every record belongs to that scope, and no territories, so that no
  /// record belongs to those. A team are the user and those whose manager the user is.
  func condition(on alias: String, _ options: SOQLOptions) -> SOQLFragment? {
    let user = options.userID.databaseValue
    switch self {
    case .everything, .scopingRule: return nil
    case .mine: return SOQLFragment("\(alias).\"OwnerId\" = ?", [user])
    case .mineAndMyGroups:
      return .joined(
        [
          SOQLFragment("\(alias).\"ActorId\" = ?", [user]),
          SOQLFragment(
            "\(alias).\"ActorId\" IN (SELECT \"GroupId\" FROM \"GroupMember\" "
              + "WHERE \"UserOrGroupId\" = ? AND \"IsDeleted\" = 0)", [user]),
        ], by: "OR")
    case .delegated:
      return .joined(
        [
          SOQLFragment("\(alias).\"CreatedById\" = ?", [user]),
          SOQLFragment("\(alias).\"OwnerId\" <> ?", [user]),
        ], by: "AND")
    case .team:
      return .joined(
        [
          SOQLFragment("\(alias).\"OwnerId\" = ?", [user]),
          SOQLFragment(
            "\(alias).\"OwnerId\" IN (SELECT \"Id\" FROM \"User\" WHERE \"ManagerId\" = ?)", [user]),
        ], by: "OR")
    case .mru:
      let ids = options.recentIDs()
      if ids.isEmpty { return .never }
      let list = Array(repeating: "?", count: ids.count).joined(separator: ", ")
      return SOQLFragment("\(alias).\"Id\" IN (\(list))", ids.map(\.databaseValue))
    case .myTerritory, .myTeamTerritory: return .never
    }
  }
}
