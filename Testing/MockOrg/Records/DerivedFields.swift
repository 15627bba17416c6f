import GRDB

/// Fields that follow from others whenever a record is written: a person's `Name`, whether an
/// opportunity, case or task is closed, what a stage means, and the length of a file.
struct DerivedFields {
  let object: ObjectSchema

  /// The fields that they follow from.
  static let sources: Set<String> = [
    "FirstName", "LastName", "StageName", "Amount", "CloseDate", "Status", "Probability",
    "ForecastCategoryName", "Body",
  ]

  /// Whether a write of these columns can change a derived field.
  func depend(on positions: some Sequence<Int>) -> Bool {
    let sources = object.table.plan.sources
    return !sources.isEmpty && positions.contains { sources.contains($0) }
  }

  /// Sets the derived fields of a whole row.
  func update(_ row: inout [DatabaseValue], stamp: String) {
    switch object.table.plan.derivation {
    case .nothing: break
    case .person:
      let parts = ["FirstName", "LastName"].compactMap { text($0, in: row) }
      set("Name", parts.joined(separator: " ").databaseValue, in: &row)
    case .opportunity: updateOpportunity(&row)
    case .supportCase:
      let closed = text("Status", in: row) == "Closed"
      set("IsClosed", closed.databaseValue, in: &row)
      if !closed {
        set("ClosedDate", .null, in: &row)
      } else if text("ClosedDate", in: row) == nil {
        set("ClosedDate", stamp.databaseValue, in: &row)
      }
    case .task:
      set("IsClosed", (text("Status", in: row) == "Completed").databaseValue, in: &row)
    case .file:
      let body = text("Body", in: row) ?? ""
      // Four characters of base64 for every three bytes, the last ones filled up with signs of equality.
      let padding = body.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
      set("BodyLength", (body.utf8.count / 4 * 3 - padding).databaseValue, in: &row)
    }
  }

  /// What the standard stages say: probability in percent and forecast category.
  private static let stages: [String: (probability: Double, category: String)] = [
    "Prospecting": (10, "Pipeline"), "Qualification": (10, "Pipeline"),
    "Needs Analysis": (20, "Pipeline"), "Value Proposition": (50, "Pipeline"),
    "Id. Decision Makers": (60, "Pipeline"), "Perception Analysis": (70, "Pipeline"),
    "Proposal/Price Quote": (75, "Pipeline"), "Negotiation/Review": (90, "Pipeline"),
    "Closed Won": (100, "Closed"), "Closed Lost": (0, "Omitted"),
  ]

  private func updateOpportunity(_ row: inout [DatabaseValue]) {
    let stage = text("StageName", in: row) ?? ""
    let meaning = Self.stages[stage] ?? (10, "Pipeline")
    set("IsClosed", stage.hasPrefix("Closed").databaseValue, in: &row)
    set("IsWon", (stage == "Closed Won").databaseValue, in: &row)
    if number("Probability", in: row) == nil || stage.hasPrefix("Closed") {
      set("Probability", meaning.probability.databaseValue, in: &row)
    }
    if text("ForecastCategoryName", in: row) == nil || stage.hasPrefix("Closed") {
      set("ForecastCategoryName", meaning.category.databaseValue, in: &row)
    }
    let category = text("ForecastCategoryName", in: row) ?? meaning.category
    set(
      "ForecastCategory", (category == "Commit" ? "Forecast" : category).databaseValue, in: &row)
    let expected = number("Amount", in: row).map {
      $0 * (number("Probability", in: row) ?? 0) / 100
    }
    set("ExpectedRevenue", expected?.databaseValue ?? .null, in: &row)
    if let close = text("CloseDate", in: row), let year = Int(close.prefix(4)),
      let month = Int(close.dropFirst(5).prefix(2))
    {
      let quarter = (month + 2) / 3
      set("FiscalYear", year.databaseValue, in: &row)
      set("FiscalQuarter", quarter.databaseValue, in: &row)
      set("Fiscal", "\(year) \(quarter)".databaseValue, in: &row)
    }
  }

  private func text(_ field: String, in row: [DatabaseValue]) -> String? {
    position(of: field).flatMap { String.fromDatabaseValue(row[$0]) }
  }

  private func number(_ field: String, in row: [DatabaseValue]) -> Double? {
    position(of: field).flatMap { Double.fromDatabaseValue(row[$0]) }
  }

  private func set(_ field: String, _ value: DatabaseValue, in row: inout [DatabaseValue]) {
    if let position = position(of: field) { row[position] = value }
  }

  private func position(of field: String) -> Int? {
    object.index(ofField: field).flatMap { object.table.positions[$0] }
  }
}
