/// The type of a field, by the name that a describe result gives it.
enum FieldType: String, Sendable, CaseIterable {
  case string, textarea, phone, url, email, combobox, encryptedstring
  case picklist, multipicklist
  case id, reference
  case boolean
  case int, long, double, currency, percent
  case date, datetime, time
  case base64
  case address, location
  case anyType, complexvalue, datacategorygroupreference

  /// How values of a type lie in SQLite.
  enum Storage: Sendable {
    /// `TEXT COLLATE NOCASE`: the platform compares texts without regard to case.
    case text
    /// `TEXT` compared byte by byte: ids (always 18 characters), dates, datetimes, times, base64.
    ///
    /// A date is `yyyy-MM-dd`. A datetime is `yyyy-MM-ddTHH:mm:ss.SSS+0000`, always UTC: the very text
    /// that goes into a response, and one that sorts by time. A time is `HH:mm:ss.SSSZ`.
    case exact
    /// `INTEGER`: 0 or 1 for a boolean.
    case integer
    /// `REAL`.
    case real
    /// No column of its own: its parts are columns (address, location).
    case compound
  }

  /// How values of this type are stored.
  var storage: Storage {
    switch self {
    case .string, .textarea, .phone, .url, .email, .combobox, .encryptedstring, .picklist,
      .multipicklist, .anyType, .complexvalue, .datacategorygroupreference:
      .text
    case .id, .reference, .date, .datetime, .time, .base64: .exact
    case .boolean, .int, .long: .integer
    case .double, .currency, .percent: .real
    case .address, .location: .compound
    }
  }

  /// Whether values are texts whose length the field limits.
  var isText: Bool {
    switch self {
    case .string, .textarea, .phone, .url, .email, .combobox, .encryptedstring, .picklist,
      .multipicklist:
      true
    default: false
    }
  }
}
