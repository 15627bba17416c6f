import TestSupport
@testable import MockOrgTests

/// Random choices of a seed.
struct Dice {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
  mutating func pick<T>(_ values: [T], _ count: Int) -> [T] {
    Array(values.shuffled(using: &random).prefix(count))
  }
}

/// Makes objects with random fields, relationships and records.
struct OrgGenerator {
  private var dice: Dice

  static let names = [
    "alpha", "Alpha", "ALPHA beta", "Émile", "émile", "straße", "a%b", "a_b", "Zoë", "zz", "O'Neil",
    "back\\slash", "_x", "[y]", "10",
  ]
  static let options = ["Energy", "Banking", "Apparel", "Media", "banking x"]
  static let tags = ["red", "green", "blue"]
  static let days = [
    "2022-12-31", "2023-01-01", "2023-11-05", "2024-02-10", "2024-02-29", "2024-03-03",
    "2024-03-08", "2024-03-09", "2024-03-10", "2024-03-11", "2024-03-12", "2024-03-31",
    "2024-04-01", "2024-07-04", "2025-01-01",
  ]
  static let times = [
    "00:00:00.000", "04:59:59.999", "05:00:00.000", "06:30:00.000", "07:00:00.000", "18:30:00.000",
    "22:59:59.999", "23:00:00.000", "23:59:59.999",
  ]
  static let zones = ["GMT", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "GMT-0800"]

  init(seed: UInt64) { dice = Dice(seed: seed) }

  mutating func org() -> PlainOrg {
    let names =
      ["User"] + ["Alpha__c", "Beta__c", "Gamma__c", "Delta__c"].prefix(dice.below(3) + 2)
    var objects: [String: PlainObject] = [:]
    for name in names { objects[name] = object(name, among: names) }
    for name in names {
      for field in objects[name]?.fields ?? [] where field.kind == .reference {
        for target in field.targets {
          objects[target]?.children.append(
            ("\(name.prefix(5))_\(field.name.prefix(4))_of__r", name, field.name))
        }
      }
    }
    for (index, name) in names.enumerated() {
      guard var object = objects[name] else { continue }
      object.records = (1...dice.below(30) + 8).map { number in
        record(of: object, id: Self.id(index, number), names)
      }
      object.prefix = "a0\(index)"
      objects[name] = object
    }
    return PlainOrg(
      objects: objects, userID: Self.id(0, 1), zone: dice.pick(Self.zones))
  }

  /// The id of 18 characters, whose checksum is that of 12 digits behind a lower-case prefix.
  static func id(_ object: Int, _ number: Int) -> String {
    let digits = String(number)
    return "a0\(object)" + String(repeating: "0", count: 12 - digits.count) + digits + "AAA"
  }

  private mutating func object(_ name: String, among names: [String]) -> PlainObject {
    var fields = [
      PlainField(name: "Id", kind: .id), PlainField(name: "IsDeleted", kind: .boolean),
      PlainField(name: "SystemModstamp", kind: .dateTime),
      PlainField(name: "CreatedDate", kind: .dateTime), PlainField(name: "Name", kind: .text),
      PlainField(name: "OwnerId", kind: .reference, targets: ["User"], relationship: "Owner"),
    ]
    let kinds = PlainField.Kind.allCases.filter { ![.id, .reference].contains($0) }
    for number in 0..<dice.below(7) + 4 {
      var field = PlainField(name: "F\(number)__c", kind: dice.pick(kinds))
      if field.kind == .picklist {
        field.options = dice.pick(Self.options, dice.below(3) + 2).map { value in
          (value, dice.chance(60) ? value + " label" : value)
        }
      }
      fields.append(field)
    }
    for number in 0..<dice.below(2) + 1 {
      fields.append(
        PlainField(
          name: "Ref\(number)__c", kind: .reference, targets: [dice.pick(names)],
          relationship: "Ref\(number)__r"))
    }
    if dice.chance(60) {
      fields.append(
        PlainField(
          name: "Poly__c", kind: .reference, targets: dice.pick(names, 2), relationship: "Poly__r"))
    }
    return PlainObject(name: name, fields: fields, hasPlace: dice.chance(40))
  }

  private mutating func record(
    of object: PlainObject, id: String, _ names: [String]
  ) -> [String: PlainValue] {
    var record: [String: PlainValue] = [:]
    for field in object.fields {
      record[field.name] = value(of: field, names)
      if dice.chance(20), field.kind != .boolean { record[field.name] = .null }
    }
    record["Id"] = .text(id)
    record["IsDeleted"] = .boolean(dice.chance(10))
    if object.hasPlace, dice.chance(80) {
      record["Place__Latitude__s"] = .number(Double(dice.below(35)) * 5 - 85)
      record["Place__Longitude__s"] = .number(Double(dice.below(70)) * 5 - 175)
    }
    return record
  }

  private mutating func value(of field: PlainField, _ names: [String]) -> PlainValue {
    switch field.kind {
    case .text, .exactText: return .text(dice.pick(Self.names))
    case .picklist: return .text(dice.pick(field.options.map(\.value) + ["Other"]))
    case .multipicklist:
      return .text(dice.pick(Self.tags, dice.below(3) + 1).joined(separator: ";"))
    case .int: return .number(Double(dice.below(6)))
    case .number: return .number(Double(dice.below(40)) / 4)
    case .boolean: return .boolean(dice.chance(50))
    case .date: return .text(dice.pick(Self.days))
    case .dateTime: return .text(dice.pick(Self.days) + "T" + dice.pick(Self.times) + "+0000")
    case .time: return .text(dice.pick(Self.times) + "Z")
    case .id: return .null
    case .reference:
      let target = names.firstIndex(of: dice.pick(field.targets)) ?? 0
      // Some name a record that does not exist.
      return .text(Self.id(target, dice.below(30) + 1))
    }
  }
}
