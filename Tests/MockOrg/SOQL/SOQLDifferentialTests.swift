import Foundation
import GRDB
import TestSupport
import Testing

@testable import SalesforceMockOrg

/// Random data and random queries, answered by the engine and by ``NaiveQuery``.
@Suite struct SOQLDifferentialTests {
  private static let roundCount = 10
  private static let queriesPerRound = 250

  @Test(arguments: 0..<roundCount)
  func `the engine finds what a naive evaluation finds`(round: Int) throws {
    let seed = 0xD1FF + UInt64(round)
    var generator = QueryGenerator(seed: seed)
    let data = generator.data()
    var org = try SOQLTestOrg([
      "Account": data.accounts, "Contact": data.contacts, "User": data.users,
    ])
    org.options.timeZone = TimeZone(secondsFromGMT: generator.secondsFromUTC) ?? .gmt
    var found = 0
    for turn in 0..<Self.queriesPerRound {
      let query = generator.query()
      let expected = query.ids(in: data)
      let place = "seed \(seed), turn \(turn): \(query.soql("Id"))"
      do {
        let actual = try org.values(query.soql("Id")).compactMap(\.self)
        #expect(actual == expected, "\(place)")
        if query.order.isEmpty {
          #expect(try org.count(query.soql("COUNT()")) == expected.count, "\(place)")
        }
        found += expected.count
      } catch {
        Issue.record("\(place): \(error)")
      }
    }
    // Most queries have to find something, or the agreement means little.
    #expect(found > Self.queriesPerRound * 3, "seed \(seed)")
  }

  @Test(arguments: 0..<4)
  func `groups have the counts and sums of their records`(round: Int) throws {
    let seed = 0x6720 + UInt64(round)
    var generator = QueryGenerator(seed: seed)
    let data = generator.data()
    let org = try SOQLTestOrg([
      "Account": data.accounts, "Contact": data.contacts, "User": data.users,
    ])
    for turn in 0..<60 {
      var query = generator.query()
      (query.order, query.limit, query.offset, query.includesDeleted) = ([], nil, nil, false)
      let minimum = turn % 3
      let chosen = Set(query.ids(in: data))
      var groups: [String: [TestRecord]] = [:]
      for record in data.accounts {
        guard case .text(let id)? = record["Id"], chosen.contains(id) else { continue }
        let industry = if case .text(let text)? = record["Industry"] { text } else { "" }
        groups[industry.lowercased(), default: []].append(record)
      }
      var expected: [String: [Double?]] = [:]
      for (industry, records) in groups where records.count > minimum {
        let numbers = records.compactMap { record -> Double? in
          if case .number(let number)? = record["AnnualRevenue"] { number } else { nil }
        }
        expected[industry] = [
          Double(records.count), Double(numbers.count),
          numbers.isEmpty ? nil : numbers.reduce(0, +), numbers.min(), numbers.max(),
        ]
      }
      let soql =
        query.soql(
          "Industry, COUNT(Id), COUNT(AnnualRevenue), SUM(AnnualRevenue), MIN(AnnualRevenue), "
            + "MAX(AnnualRevenue)") + " GROUP BY Industry HAVING COUNT(Id) > \(minimum)"
      var actual: [String: [Double?]] = [:]
      for row in try org.rows(soql) {
        actual[(String.fromDatabaseValue(row[0]) ?? "").lowercased()] = row.dropFirst().map {
          Double.fromDatabaseValue($0)
        }
      }
      #expect(actual == expected, "seed \(seed), turn \(turn): \(soql)")
    }
  }
}

/// Makes data and queries of a seed.
private struct QueryGenerator {
  private var random: SeededGenerator
  let secondsFromUTC: Int

  private static let names = [
    "alpha", "Alpha", "ALPHA beta", "Émile", "émile", "straße", "a%b", "a_b", "Zoë", "zz", "O'Neil",
    "back\\slash", "_x", "[y]", "10",
  ]
  private static let days = [
    "2022-12-31", "2023-01-01", "2023-11-11", "2024-01-28", "2024-02-03", "2024-02-04",
    "2024-02-09",
    "2024-02-10", "2024-02-11", "2024-02-18", "2024-02-29", "2024-03-31", "2024-04-01",
    "2025-01-01",
  ]
  private static let accountFields: [NaiveQuery.Field] = [
    .init(name: "Name", kind: .text), .init(name: "Industry", kind: .picklist),
    .init(name: "Tags__c", kind: .multipicklist), .init(name: "AnnualRevenue", kind: .number),
    .init(name: "NumberOfEmployees", kind: .number), .init(name: "Active__c", kind: .boolean),
    .init(name: "Founded__c", kind: .date), .init(name: "CreatedDate", kind: .dateTime),
    .init(name: "Code__c", kind: .exactText), .init(name: "Id", kind: .id),
    .init(name: "ParentId", kind: .id),
  ]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    secondsFromUTC = [0, -28_800, 19_800].randomElement(using: &random) ?? 0
  }

  private mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  // MARK: Data

  mutating func data() -> NaiveData {
    let users = (1...3).map { number -> TestRecord in
      ["Id": .text(SOQLTestOrg.id("005", number)), "Name": .text(pick(Self.names))]
    }
    let accounts = (1...40).map { number -> TestRecord in
      var record: TestRecord = [
        "Id": .text(SOQLTestOrg.id("001", number)), "IsDeleted": .boolean(chance(10)),
        "Active__c": .boolean(chance(50)),
        "ParentId": .text(SOQLTestOrg.id("001", below(40) + 1)),
        "OwnerId": .text(SOQLTestOrg.id("005", below(3) + 1)),
        "Name": .text(pick(Self.names)), "Code__c": .text(pick(Self.names)),
        "Industry": .text(pick(SOQLTestOrg.industries + ["Other"])),
        "Tags__c": .text(tags().joined(separator: ";")),
        "AnnualRevenue": .number(Double(below(40)) / 4),
        "NumberOfEmployees": .number(Double(below(6))),
        "Founded__c": .text(pick(Self.days)),
        "CreatedDate": .text(pick(Self.days) + "T" + pick(Self.times) + "+0000"),
      ]
      for field in record.keys.sorted() where !["Id", "IsDeleted", "Active__c"].contains(field) {
        if chance(20) { record[field] = .null }
      }
      return record
    }
    let contacts = (1...30).map { number -> TestRecord in
      [
        "Id": .text(SOQLTestOrg.id("003", number)), "IsDeleted": .boolean(chance(10)),
        "AccountId": chance(20) ? .null : .text(SOQLTestOrg.id("001", below(40) + 1)),
        "Name": chance(20) ? .null : .text(pick(Self.names)),
      ]
    }
    return NaiveData(accounts: accounts, contacts: contacts, users: users)
  }

  private static let times = [
    "00:00:00.000", "05:29:59.999", "07:59:59.000", "08:00:00.000", "18:30:00.000", "23:59:59.999",
  ]

  private mutating func tags() -> [String] {
    let chosen = SOQLTestOrg.tags.filter { _ in chance(50) }
    return chosen.isEmpty ? [pick(SOQLTestOrg.tags)] : chosen
  }

  // MARK: Queries

  mutating func query() -> NaiveQuery {
    var query = NaiveQuery()
    if chance(95) {
      query.condition = condition(depth: 0)
      if chance(15) {
        let join = NaiveQuery.Condition.semiJoin(
          negated: chance(50),
          .compare(
            .init(parents: [], field: Self.accountFields[0]), pick(["=", "!=", "LIKE", "<"]),
            .text(pick(Self.names))))
        query.condition = .and([join, condition(depth: 1)])
      }
    }
    for _ in 0..<below(4) {
      let path = path { $0 != .multipicklist }
      query.order.append((path, chance(50), chance(50) ? chance(50) : nil))
    }
    if chance(30) { query.limit = below(30) }
    if chance(15) { query.offset = below(10) }
    query.includesDeleted = chance(20)
    return query
  }

  private mutating func path(
    where suits: (NaiveQuery.Field.Kind) -> Bool = { _ in true }
  ) -> NaiveQuery.Path {
    if chance(10) {
      return NaiveQuery.Path(
        parents: Array(repeating: "Parent", count: below(3)) + ["Owner"],
        field: Self.accountFields[0])
    }
    let parents = chance(60) ? 0 : below(6)
    return NaiveQuery.Path(
      parents: Array(repeating: "Parent", count: parents),
      field: pick(Self.accountFields.filter { suits($0.kind) }))
  }

  private mutating func condition(depth: Int) -> NaiveQuery.Condition {
    if depth < 4, chance(45) {
      let parts = (0..<below(3) + 2).map { _ in condition(depth: depth + 1) }
      switch below(3) {
      case 0: return .and(parts)
      case 1: return .or(parts)
      default: return .not(condition(depth: depth + 1))
      }
    }
    let path = path()
    if path.field.kind == .multipicklist, chance(70) {
      return .includes(path, excludes: chance(40), (0...below(2)).map { _ in tags() })
    }
    if path.field.kind != .multipicklist, chance(25) {
      return .list(
        path, negated: chance(40),
        (0...below(5)).map { _ in literal(path.field.kind, forEquality: true) })
    }
    let comparator =
      switch path.field.kind {
      case .boolean, .multipicklist: pick(["=", "!=", "<>"])
      case .text, .picklist: pick(["=", "!=", "<", "<=", ">", ">=", "LIKE", "LIKE"])
      default: pick(["=", "!=", "<>", "<", "<=", ">", ">="])
      }
    if comparator == "LIKE" { return .compare(path, comparator, .text(pattern())) }
    return .compare(
      path, comparator,
      literal(path.field.kind, forEquality: ["=", "!=", "<>"].contains(comparator)))
  }

  private mutating func literal(
    _ kind: NaiveQuery.Field.Kind, forEquality: Bool
  ) -> NaiveQuery.Literal {
    if forEquality, kind != .boolean, chance(12) { return .null }
    switch kind {
    case .text, .exactText:
      return .text(chance(20) ? pick(Self.names).uppercased() : pick(Self.names))
    case .picklist: return .text(pick(SOQLTestOrg.industries + ["other", "energy"]))
    case .multipicklist: return .text(tags().joined(separator: ";"))
    case .number:
      let number = Double(below(40)) / 4
      return .number(
        number, written: number == number.rounded() ? String(Int(number)) : "\(number)")
    case .boolean: return .boolean(chance(50))
    case .id:
      let id = SOQLTestOrg.id("001", below(40) + 1)
      return chance(50) ? .text(id) : .moment(id, written: "'\(id.prefix(15))'")
    case .date:
      if chance(50) { return dateLiteral(kind) }
      let day = pick(Self.days)
      return .moment(day, written: day)
    case .dateTime:
      if chance(50) { return dateLiteral(kind) }
      let day = pick(Self.days)
      let time = pick(Self.times)
      return .moment("\(day)T\(time)+0000", written: "\(day)T\(time)Z")
    }
  }

  private mutating func pattern() -> String {
    let name = pick(Self.names).filter { $0 != "\\" && $0 != "'" }
    let start = below(name.count)
    let part = String(name.dropFirst(start).prefix(below(4) + 1))
    return pick([
      "%\(part)%", "\(part)%", "%\(part)", "_\(part)%", "%\(part)_", part, "%_\(part)%%",
    ])
  }

  /// A date literal with its range by Foundation's calendar.
  private mutating func dateLiteral(_ kind: NaiveQuery.Field.Kind) -> NaiveQuery.Literal {
    var calendar = Calendar(identifier: .gregorian)
    calendar.firstWeekday = 1
    calendar.timeZone = TimeZone(secondsFromGMT: secondsFromUTC) ?? .gmt
    let n = below(5) + 1
    let units: [(String, Calendar.Component, Int)] = [
      ("DAY", .day, 1), ("WEEK", .weekOfYear, 1), ("MONTH", .month, 1), ("QUARTER", .month, 3),
      ("YEAR", .year, 1), ("FISCAL_QUARTER", .month, 3), ("FISCAL_YEAR", .year, 1),
    ]
    let (word, component, factor) = pick(units)
    let isDay = word == "DAY"
    let (written, first, count): (String, Int, Int) = pick([
      (isDay ? "TODAY" : "THIS_\(word)", 0, 1), (isDay ? "YESTERDAY" : "LAST_\(word)", -1, 1),
      (isDay ? "TOMORROW" : "NEXT_\(word)", 1, 1), ("N_\(word)S_AGO:\(n)", -n, 1),
      ("LAST_N_\(word)S:\(n)", -n, isDay ? n + 1 : n), ("NEXT_N_\(word)S:\(n)", 1, n),
    ])
    let now = SOQLTestOrg.now
    var begin: Date
    if factor == 3 {
      var parts = calendar.dateComponents([.year, .month], from: now)
      parts.month = ((parts.month ?? 1) - 1) / 3 * 3 + 1
      begin = calendar.date(from: parts) ?? now
    } else {
      begin = calendar.dateInterval(of: component, for: now)?.start ?? now
    }
    let start = calendar.date(byAdding: component, value: first * factor, to: begin) ?? begin
    let end =
      calendar.date(byAdding: component, value: (first + count) * factor, to: begin) ?? begin
    func stored(_ date: Date) -> String {
      guard kind == .dateTime else {
        return date.addingTimeInterval(Double(secondsFromUTC)).ISO8601Format().prefix(10)
          .description
      }
      return date.ISO8601Format().dropLast() + ".000+0000"
    }
    return .range(stored(start), stored(end), written: written)
  }
}
