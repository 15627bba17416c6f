public import SalesforceSDKCommon

/// A probable mistake in the fields of a sync, noticed when the sync is created: one list stands in several syncs of a soup,
/// and a field is misspelled or left out in one of them. The sync is created all the same.
public struct SyncFieldWarning: Sendable, Hashable, CustomStringConvertible {
  /// The kind of mistake: `fieldNotOnServer`, `fieldInOtherCase`, `fieldNotDownloaded` or `fieldNotSent`.
  public let code: SyncsConfigProblem.Code
  /// The soup of the records.
  public let soupName: String
  /// The fields, in the order of their list.
  public let fields: [String]
  /// The mistake and the remedy.
  public let message: String

  /// ``message``.
  public var description: String { message }

  /// `{"code": "fieldNotSent", "soupName": "accounts", "fields": ["Phone"], "message": "…"}`.
  public var json: JSONObject {
    [
      "code": .string("\(code)"), "soupName": .string(soupName),
      "fields": .array(fields.map { .string($0) }), "message": .string(message),
    ]
  }
}

extension SyncFieldWarning {
  private static func quoted(_ names: [String]) -> String {
    names.map { "'\($0)'" }.joined(separator: ", ")
  }

  static func notOnServer(_ fields: [String], of objectType: String, in soupName: String) -> Self {
    Self(
      code: .fieldNotOnServer, soupName: soupName, fields: fields,
      message:
        "The records of the soup '\(soupName)' do not have \(quoted(fields)) on the server: \(objectType) "
        + "has no such field, or the user may not see it. Correct the name in the list of the sync up."
    )
  }

  /// - Parameter fields: The fields as the sync up writes them, each with the name that the entries have.
  static func inOtherCase(_ fields: [(sent: String, known: String)], in soupName: String) -> Self {
    let remedy = fields.map { "'\($0.known)' in place of '\($0.sent)'" }.joined(separator: ", ")
    return Self(
      code: .fieldInOtherCase, soupName: soupName, fields: fields.map(\.sent),
      message:
        "A sync up of the soup '\(soupName)' has fields in other letters than the downloaded records: it sends "
        + "nothing of them. Write \(remedy).")
  }

  static func notDownloaded(_ fields: [String], in soupName: String) -> Self {
    Self(
      code: .fieldNotDownloaded, soupName: soupName, fields: fields,
      message:
        "No sync down of the soup '\(soupName)' downloads \(quoted(fields)). Correct a misspelled name, or "
        + "download the field.")
  }

  static func notSent(_ fields: [String], in soupName: String) -> Self {
    Self(
      code: .fieldNotSent, soupName: soupName, fields: fields,
      message:
        "No sync up of the soup '\(soupName)' sends \(quoted(fields)): an edit stays on the device, and its "
        + "entry unsynced. Add what users can edit to the fields that are sent.")
  }
}
