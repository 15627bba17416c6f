import GRDB

/// Makes up records that look like an org's, the same ones for the same seed.
struct RecordGenerator {
  let object: ObjectSchema
  private var random: SplitMix64
  /// The fields that get values, with the places of their columns.
  private let fields: [(position: Int, field: FieldSchema)]
  /// Ids that references may name, by object.
  private let parents: [String: [String]]

  init(object: ObjectSchema, seed: UInt64, parents: [String: [String]]) {
    self.object = object
    self.parents = parents
    // Objects with the same seed do not repeat each other's values.
    random = SplitMix64(
      seed: object.name.utf8.reduce(seed) { $0 &* 1_099_511_628_211 ^ UInt64($1) })
    fields = object.table.columns.enumerated().compactMap { position, index in
      let field = object.fields[index]
      guard field.createable, field.name != "OwnerId", !Self.unusual.contains(field.name) else {
        return nil
      }
      return (position, field)
    }
  }

  /// Fields that few orgs fill.
  private static let unusual: Set<String> = [
    "RecordTypeId", "Jigsaw", "CleanStatus", "DandbCompanyId", "OperatingHoursId", "IndividualId",
    "MasterRecordId", "IsConverted", "IsUnreadByOwner", "DunsNumber", "Tradestyle", "NaicsCode",
    "NaicsDesc", "YearStarted", "SicDesc", "Sic", "Probability", "ForecastCategoryName",
  ]

  /// The parents' objects that records of an object can name.
  static func parents(of object: ObjectSchema) -> [String] {
    Array(
      Set(
        object.fields.filter { $0.type == .reference && $0.createable }
          .flatMap(\.referenceTo)
      ).subtracting(["User", "Group", "RecordType"])
    ).sorted()
  }

  /// The values of the record with a running number.
  mutating func row(_ number: Int) -> [DatabaseValue] {
    var row = [DatabaseValue](repeating: .null, count: object.table.columns.count)
    for (position, field) in fields { row[position] = value(of: field, number) }
    return row
  }

  private mutating func value(of field: FieldSchema, _ number: Int) -> DatabaseValue {
    // Required fields always have a value, others mostly.
    if field.nillable, field.name != "FirstName", random.next(below: 10) < 2 { return .null }
    switch field.type {
    case .boolean: return (random.next(below: 4) == 0).databaseValue
    case .int, .long: return Int64(1 + random.next(below: 5000)).databaseValue
    case .double where field.name.hasSuffix("Latitude") || field.name.hasSuffix("Latitude__s"):
      return (Double(random.next(below: 120_000_000)) / 1e6 - 60).databaseValue
    case .double where field.name.hasSuffix("Longitude") || field.name.hasSuffix("Longitude__s"):
      return (Double(random.next(below: 360_000_000)) / 1e6 - 180).databaseValue
    case .double, .currency:
      let amount = 100 + random.next(below: 5_000_000)
      return (field.scale > 0 ? Double(amount) / 4 : Double(amount)).databaseValue
    case .percent: return Double(random.next(below: 101)).databaseValue
    case .date: return String(instant().prefix(10)).databaseValue
    case .datetime: return instant().databaseValue
    case .time: return "\(String(instant().dropFirst(11).prefix(8))).000Z".databaseValue
    case .picklist, .combobox:
      let values = field.picklistValues.filter(\.active)
      return values.isEmpty
        ? .null : values[random.next(below: values.count)].value.databaseValue
    case .multipicklist:
      let values = field.picklistValues.filter(\.active)
      return values.isEmpty
        ? .null : values[random.next(below: values.count)].value.databaseValue
    case .reference:
      for parent in field.referenceTo {
        if let ids = parents[parent], !ids.isEmpty {
          return ids[random.next(below: ids.count)].databaseValue
        }
      }
      return .null
    case .phone:
      return "(\(200 + random.next(below: 700))) 555-\(1000 + random.next(below: 9000))"
        .databaseValue
    case .email: return "contact\(number)@example.com".databaseValue
    case .url: return "https://www.example.com/\(number)".databaseValue
    case .textarea where field.name.hasSuffix("Street"):
      return "\(1 + random.next(below: 999)) \(pick(Self.streets))".databaseValue
    case .textarea: return sentence(limit: field.length).databaseValue
    case .string: return text(of: field, number).databaseValue
    case .id, .base64, .address, .location, .anyType, .complexvalue, .encryptedstring,
      .datacategorygroupreference:
      return .null
    }
  }

  private mutating func text(of field: FieldSchema, _ number: Int) -> String {
    let text: String
    switch field.name {
    case "FirstName": text = pick(Self.firstNames)
    case "LastName": text = pick(Self.lastNames)
    case "Name", "Company":
      text = "\(pick(Self.firstWords)) \(pick(Self.secondWords)) \(number)"
    case let name where name.hasSuffix("City"): text = pick(Self.cities)
    case let name where name.hasSuffix("State"): text = pick(["CA", "MA", "NY", "TX", "WA"])
    case let name where name.hasSuffix("PostalCode"):
      text = String(10000 + random.next(below: 89999))
    case let name where name.hasSuffix("Country"): text = "USA"
    case "Title": text = pick(["Owner", "Buyer", "Engineer", "Director", "Dispatcher"])
    case "Username": text = "user\(number)@example.com"
    default: text = "\(pick(Self.secondWords)) \(number)"
    }
    return field.length > 0 ? String(text.prefix(field.length)) : text
  }

  private mutating func sentence(limit: Int) -> String {
    var text = ""
    for _ in 0..<(4 + random.next(below: 8)) {
      text += (text.isEmpty ? "" : " ") + pick(Self.secondWords).lowercased()
    }
    return limit > 0 ? String(text.prefix(limit)) : text
  }

  /// An instant between 2020 and 2029.
  private mutating func instant() -> String {
    DateText.dateTime(secondsSince1970: 1_577_836_800 + random.next(below: 315_000_000))
  }

  private mutating func pick(_ words: [String]) -> String { words[random.next(below: words.count)] }

  private static let firstNames = [
    "Ada", "Ben", "Chen", "Dora", "Elif", "Farid", "Grete", "Hugo", "Ines", "Jamal", "Keiko",
    "Liam",
  ]
  private static let lastNames = [
    "Abara", "Brandt", "Castro", "Dunn", "Eriksen", "Fontaine", "Gupta", "Haddad", "Ito", "Jansen",
    "Kowalski", "Lindqvist",
  ]
  private static let firstWords = [
    "Amber", "Blue", "Cedar", "Delta", "East", "Falcon", "Green", "Harbor", "Iron", "Juniper",
  ]
  private static let secondWords = [
    "Supply", "Works", "Foods", "Energy", "Marine", "Textiles", "Optics", "Cycles", "Tools",
    "Farms",
  ]
  private static let streets = ["Mill Road", "Quay Street", "High Street", "Station Lane"]
  private static let cities = ["Boston", "Oakland", "Austin", "Seattle", "Albany", "Fresno"]
}

/// SplitMix64: small, fast, and the same on every machine.
struct SplitMix64 {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next(below bound: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    z ^= z >> 31
    return Int(z % UInt64(bound))
  }
}
