/// An entry of a select list that stands for several fields: `FIELDS(ALL)`, `FIELDS(STANDARD)` or `FIELDS(CUSTOM)`.
enum SOQLFieldGroup: String, Sendable {
  case all, standard, custom

  /// Reads an entry of a select list, in any letters and with any blanks; nil if it is another entry.
  init?(_ entry: some StringProtocol) {
    let text = String(entry.filter { !$0.isWhitespace }).lowercased()
    guard text.hasPrefix("fields("), text.hasSuffix(")") else { return nil }
    self.init(rawValue: String(text.dropFirst("fields(".count).dropLast()))
  }

  /// Whether a field of the object belongs to the group. Names of custom fields end in `__c`, and those of parts of them
  /// in `__s`.
  func contains(_ field: String) -> Bool {
    let name = field.lowercased()
    let isCustom = name.hasSuffix("__c") || name.hasSuffix("__s")
    return switch self {
    case .all: !field.contains(".")
    case .standard: !field.contains(".") && !isCustom
    case .custom: !field.contains(".") && isCustom
    }
  }

  /// The entry as it is written.
  var text: String { "FIELDS(\(rawValue.uppercased()))" }
}
