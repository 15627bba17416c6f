import GRDB

/// The records that an org has before anybody works in it: itself, its users and their profiles, and the
/// price book that every org has.
struct OriginalRecords {
  let org: MockOrg
  /// The columns that the tables of an older database have just got, by object.
  var addedColumns: [String: Set<String>] = [:]

  /// Creates the records that are missing, and fills the added columns of the others.
  func create(_ transaction: OrgTransaction) throws {
    let user = org.options.user
    try insert(
      "Organization", id: org.organizationID,
      [
        "Name": org.options.organizationName, "OrganizationType": "Developer Edition",
        "DefaultLocaleSidKey": "en_US", "TimeZoneSidKey": "GMT", "LanguageLocaleKey": "en_US",
        "InstanceName": "MOCK1", "PrimaryContact": "\(user.firstName) \(user.lastName)",
        "Country": "US", "SignupCountryIsoCode": "US", "FiscalYearStartMonth": 1,
        "IsSandbox": org.options.isSandbox, "UiSkin": "Theme3", "WebToCaseDefaultOrigin": "Web",
        "NumKnowledgeService": 0, "MonthlyPageViewsUsed": 0, "MonthlyPageViewsEntitlement": 0,
        "DefaultAccountAccess": "Edit", "DefaultContactAccess": "ControlledByParent",
        "DefaultOpportunityAccess": "Edit", "DefaultLeadAccess": "ReadEditTransfer",
        "DefaultCaseAccess": "ReadEditTransfer", "DefaultCalendarAccess": "HideDetailsInsert",
        "DefaultPricebookAccess": "ReadSelect", "DefaultCampaignAccess": "All",
        "ReceivesInfoEmails": true, "ReceivesAdminInfoEmails": true,
        "PreferencesLightningLoginEnabled": true,
      ], transaction)
    var profiles: Set<String> = []
    for user in org.users {
      if profiles.insert(user.profileID).inserted {
        try insert(
          "Profile", id: user.profileID, ["Name": user.profile.name, "UserType": "Standard"],
          transaction)
      }
      try insert(
        "User", id: user.id,
        [
          "Username": user.username, "FirstName": user.firstName, "LastName": user.lastName,
          "Email": user.email, "Alias": String(user.firstName.prefix(8)).lowercased(),
          "CommunityNickname": user.firstName, "IsActive": true, "ProfileId": user.profileID,
          "TimeZoneSidKey": "GMT", "LocaleSidKey": "en_US", "LanguageLocaleKey": "en_US",
          "EmailEncodingKey": "UTF-8", "UserType": "Standard",
        ], transaction)
      transaction.ids.skip(to: user.id)
      transaction.ids.skip(to: user.profileID)
    }
    transaction.ids.skip(to: org.organizationID)
    let priceBook = RecordID.make(prefix: "01s", number: 1)
    try insert(
      "Pricebook2", id: priceBook,
      ["Name": "Standard Price Book", "IsActive": true, "IsStandard": true], transaction)
    transaction.ids.skip(to: priceBook)
    let hours = RecordID.make(prefix: "01m", number: 1)
    try insert("BusinessHours", id: hours, Self.businessHours, transaction)
    transaction.ids.skip(to: hours)
  }

  /// Open all day on every day, as a new org's.
  private static var businessHours: [String: any DatabaseValueConvertible] {
    var values: [String: any DatabaseValueConvertible] = [
      "Name": "Default", "IsActive": true, "IsDefault": true, "TimeZoneSidKey": "GMT",
    ]
    for day in ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] {
      values["\(day)StartTime"] = "00:00:00.000Z"
      values["\(day)EndTime"] = "00:00:00.000Z"
    }
    return values
  }

  private func insert(
    _ name: String, id: String, _ values: [String: any DatabaseValueConvertible],
    _ transaction: OrgTransaction
  ) throws {
    guard let object = transaction.schema.object(named: name) else { return }
    let isThere = try Bool.fetchOne(
      transaction.database, sql: "SELECT 1 FROM \(object.table.name) WHERE \"Id\" = ?",
      arguments: [id])
    if isThere != nil {
      for (column, value) in values where addedColumns[name]?.contains(column) == true {
        try transaction.database.execute(
          sql: "UPDATE \(object.table.name) SET \(RecordTable.quoted(column)) = ? WHERE \"Id\" = ?",
          arguments: [value, id])
      }
      return
    }
    var row = [DatabaseValue](repeating: .null, count: object.table.columns.count)
    for (field, value) in values where value as? String != "" {
      guard let position = object.index(ofField: field).flatMap({ object.table.positions[$0] })
      else { continue }
      row[position] = value.databaseValue
    }
    for (position, initial) in object.table.plan.initials where row[position].isNull {
      if case .value(let value) = initial { row[position] = value }
    }
    try RecordWriter(transaction: transaction, object: object).insert(row, id: id)
  }
}
