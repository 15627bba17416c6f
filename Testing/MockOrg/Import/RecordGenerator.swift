import GRDB

/// Makes up records that look like an org's, the same ones for the same seed.
struct RecordGenerator {
  /// What a field is filled with, worked out once for all its records.
  private enum Content {
    case flag, integer, amount(divisor: Double), percent, latitude, longitude
    case date, dateTime, time
    /// One of some values.
    case choice([DatabaseValue])
    case phone, email, url, street, postalCode, userName
    case sentence(limit: Int)
    /// A company's name.
    case company(limit: Int)
    /// A word and the record's number.
    case word(limit: Int)
  }

  let object: ObjectSchema
  private var random: SplitMix64
  /// The fields that get values, with the places of their columns.
  private let fields: [(position: Int, isOptional: Bool, content: Content)]

  /// - Parameter parents: Ids that references may name, by object.
  init(object: ObjectSchema, seed: UInt64, parents: [String: [String]]) {
    self.object = object
    // Objects with the same seed do not repeat each other's values.
    random = SplitMix64(
      seed: object.name.utf8.reduce(seed) { $0 &* 1_099_511_628_211 ^ UInt64($1) })
    let ids = parents.mapValues { $0.map(\.databaseValue) }
    fields = object.table.columns.enumerated().compactMap { position, index in
      let field = object.fields[index]
      guard field.createable, field.name != "OwnerId", !Self.unusual.contains(field.name),
        let content = Self.content(of: field, parents: ids)
      else { return nil }
      // Required fields always have a value, others mostly.
      return (position, field.nillable && field.name != "FirstName", content)
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
    for (position, isOptional, content) in fields
    where !isOptional || random.next(below: 10) >= 2 {
      row[position] = value(of: content, number)
    }
    return row
  }

  private static func content(
    of field: FieldSchema, parents: [String: [DatabaseValue]]
  ) -> Content? {
    switch field.type {
    case .boolean: return .flag
    case .int, .long: return .integer
    case .double where field.name.hasSuffix("Latitude") || field.name.hasSuffix("Latitude__s"):
      return .latitude
    case .double where field.name.hasSuffix("Longitude") || field.name.hasSuffix("Longitude__s"):
      return .longitude
    case .double, .currency: return .amount(divisor: field.scale > 0 ? 4 : 1)
    case .percent: return .percent
    case .date: return .date
    case .datetime: return .dateTime
    case .time: return .time
    case .picklist, .combobox, .multipicklist:
      return choice(field.picklistValues.filter(\.active).map(\.value))
    case .reference:
      let ids = field.referenceTo.lazy.compactMap { parents[$0] }.first { !$0.isEmpty }
      return ids.map { .choice($0) }
    case .phone: return .phone
    case .email: return .email
    case .url: return .url
    case .textarea where field.name.hasSuffix("Street"): return .street
    case .textarea: return .sentence(limit: field.length)
    case .string: return text(of: field)
    case .id, .base64, .address, .location, .anyType, .complexvalue, .encryptedstring,
      .datacategorygroupreference:
      return nil
    }
  }

  private static func text(of field: FieldSchema) -> Content? {
    switch field.name {
    case "FirstName": choice(firstNames)
    case "LastName": choice(lastNames)
    case "Name", "Company": .company(limit: field.length)
    case let name where name.hasSuffix("City"): choice(cities)
    case let name where name.hasSuffix("State"): choice(["CA", "MA", "NY", "TX", "WA"])
    case let name where name.hasSuffix("PostalCode"): .postalCode
    case let name where name.hasSuffix("Country"): choice(["USA"])
    case "Title": choice(["Owner", "Buyer", "Engineer", "Director", "Dispatcher"])
    case "Username": .userName
    default: .word(limit: field.length)
    }
  }

  private static func choice(_ texts: [String]) -> Content? {
    texts.isEmpty ? nil : .choice(texts.map(\.databaseValue))
  }

  private mutating func value(of content: Content, _ number: Int) -> DatabaseValue {
    switch content {
    case .flag: (random.next(below: 4) == 0).databaseValue
    case .integer: Int64(1 + random.next(below: 5000)).databaseValue
    case .latitude: (Double(random.next(below: 120_000_000)) / 1e6 - 60).databaseValue
    case .longitude: (Double(random.next(below: 360_000_000)) / 1e6 - 180).databaseValue
    case .amount(let divisor): (Double(100 + random.next(below: 5_000_000)) / divisor).databaseValue
    case .percent: Double(random.next(below: 101)).databaseValue
    case .date: String(instant().prefix(10)).databaseValue
    case .dateTime: instant().databaseValue
    case .time: "\(instant().dropFirst(11).prefix(8)).000Z".databaseValue
    case .choice(let values): values[random.next(below: values.count)]
    case .phone:
      "(\(200 + random.next(below: 700))) 555-\(1000 + random.next(below: 9000))".databaseValue
    case .email: "contact\(number)@example.com".databaseValue
    case .url: "https://www.example.com/\(number)".databaseValue
    case .userName: "user\(number)@example.com".databaseValue
    case .street: "\(1 + random.next(below: 999)) \(pick(Self.streets))".databaseValue
    case .postalCode: String(10000 + random.next(below: 89999)).databaseValue
    case .sentence(let limit): Self.cut(sentence(), limit).databaseValue
    case .company(let limit):
      Self.cut("\(pick(Self.firstWords)) \(pick(Self.secondWords)) \(number)", limit)
        .databaseValue
    case .word(let limit): Self.cut("\(pick(Self.secondWords)) \(number)", limit).databaseValue
    }
  }

  /// A text of ASCII letters without what is beyond the field's length.
  private static func cut(_ text: String, _ limit: Int) -> String {
    limit > 0 && text.utf8.count > limit ? String(text.prefix(limit)) : text
  }

  private mutating func sentence() -> String {
    var text = ""
    for _ in 0..<(4 + random.next(below: 8)) {
      if !text.isEmpty { text += " " }
      text += pick(Self.words)
    }
    return text
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
  private static let words = secondWords.map { $0.lowercased() }
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
