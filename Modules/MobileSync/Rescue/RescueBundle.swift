import Foundation
import SalesforceSDKCommon
import SmartStore

/// The user whose records a bundle has.
public struct RescueUser: Sendable, Hashable {
  /// The org's id; the forms of 15 and 18 characters are the same org's.
  public let organizationId: String
  /// The user's id; the forms of 15 and 18 characters are the same user's.
  public let userId: String

  /// Names a user. For a store without a user, both texts are empty.
  public init(organizationId: String, userId: String) {
    self.organizationId = SalesforceId(organizationId)?.text ?? organizationId
    self.userId = SalesforceId(userId)?.text ?? userId
  }
}

/// The unsynced content of a store in a bundle: JSON documents, one per line.
///
/// ```json
/// {"bundle":"…","organizationId":"00D…","userId":"005…","time":1700000000000,"soups":[…],"entries":2}
/// {"soup":"accounts","entryId":5,"record":{…},"base":{…},"sentAfter":1700000000000,"edits":{…}}
/// ```
struct RescueBundle: Sendable {
  /// A soup with unsynced entries.
  struct Soup: Sendable {
    let name: String
    let indexes: [SoupIndex]
    let names: SyncFieldNames
    /// The fields that a create sends, as the soup's sync up says; nil if it has none.
    let createFields: [String]?
  }

  /// An unsynced entry.
  struct Entry: Sendable {
    let soup: String
    let entryId: Int64
    let record: JSONSlice
    /// The base version; nil if it is unknown.
    let base: JSONObject?
    /// The time, in milliseconds since 1970, before which its create was certainly not sent; nil if it is no create.
    let sentAfter: Int64?
    /// The arrival of a create whose response was lost, as ``UnacknowledgedMark/arrival``.
    let arrival: ClosedRange<Int64>?
    /// The fields that the edit calls have changed; nil if there are none.
    let edits: EditedFields.Edits?
  }

  let id: String
  let user: RescueUser
  /// The time at which it was written, in milliseconds since 1970.
  let time: Int64
  let soups: [Soup]
  /// In the order in which they are uploaded.
  let entries: [Entry]

  // MARK: Writing

  func content() throws -> [UInt8] {
    let manifest: JSONObject = [
      "bundle": .string(id), "organizationId": .string(user.organizationId),
      "userId": .string(user.userId), "time": .integer(time),
      "soups": .array(soups.map { .object($0.json) }), "entries": .integer(Int64(entries.count)),
    ]
    var bytes = Array(JSONValue.object(manifest).text.utf8) + [UInt8(ascii: "\n")]
    for entry in entries {
      var writer = JSONWriter(capacity: entry.record.utf8.count + 256)
      writer.beginObject()
      writer.key("soup")
      writer.string(entry.soup)
      writer.key("entryId")
      writer.integer(entry.entryId)
      // The stored text of an entry may contain line feeds.
      try writer.member("record", entry.record.value)
      if let base = entry.base { try writer.member("base", .object(base)) }
      if let time = entry.sentAfter { try writer.member("sentAfter", .integer(time)) }
      for (key, value) in UnacknowledgedMark.json(ofArrival: entry.arrival) {
        try writer.member(key, value)
      }
      if let edits = entry.edits { try writer.member("edits", .object(edits.json)) }
      writer.endObject()
      bytes += writer.bytes + [UInt8(ascii: "\n")]
    }
    return bytes
  }

  // MARK: Reading

  /// - Throws: ``RescueError`` `damaged`.
  init(content: [UInt8]) throws(RescueError) {
    var lines = content.split(separator: UInt8(ascii: "\n"))[...]
    guard let first = lines.popFirst(), let manifest = try? JSONSlice(parsing: Array(first)),
      let id = manifest["bundle"]?.string, !id.isEmpty, let time = manifest["time"]?.int64,
      let organization = manifest["organizationId"]?.string,
      let user = manifest["userId"]?.string, let soups = manifest["soups"],
      soups.kind == .array, manifest["entries"]?.int64 == Int64(lines.count)
    else { throw RescueError.damaged("its first line does not describe it") }
    self.id = id
    self.time = time
    self.user = RescueUser(organizationId: organization, userId: user)
    var known: [Soup] = []
    for json in soups.elements {
      guard let soup = Soup(json: json) else {
        throw RescueError.damaged("a soup is not described")
      }
      known.append(soup)
    }
    let names = Set(known.map(\.name))
    var entries: [Entry] = []
    entries.reserveCapacity(lines.count)
    for line in lines {
      guard let json = try? JSONSlice(parsing: Array(line)), let soup = json["soup"]?.string,
        names.contains(soup), let entryId = json["entryId"]?.int64, let record = json["record"],
        record.kind == .object
      else { throw RescueError.damaged("an entry is none") }
      entries.append(
        Entry(
          soup: soup, entryId: entryId, record: record, base: json["base"]?.value.object,
          sentAfter: json["sentAfter"]?.int64, arrival: UnacknowledgedMark.arrival(in: json),
          edits: json["edits"].map(EditedFields.Edits.init(json:))))
    }
    self.soups = known
    self.entries = entries
  }

  init(id: String, user: RescueUser, time: Int64, soups: [Soup], entries: [Entry]) {
    self.id = id
    self.user = user
    self.time = time
    self.soups = soups
    self.entries = entries
  }
}

extension RescueBundle.Soup {
  var json: JSONObject {
    var object: JSONObject = [
      "name": .string(name),
      "indexes": .array(
        indexes.map { ["path": .string($0.path), "type": .string($0.type.rawValue)] }),
      "idField": .string(names.id), "dateField": .string(names.modificationDate),
    ]
    if let createFields {
      object["createFields"] = .array(createFields.map { .string($0) })
    }
    return object
  }

  /// nil if it is none, or one of sync's own.
  init?(json: JSONSlice) {
    guard let name = json["name"]?.string, !name.isEmpty, !MetadataSoup.isOwn(name),
      let idField = json["idField"]?.string, let dateField = json["dateField"]?.string
    else { return nil }
    self.name = name
    names = SyncFieldNames(id: idField, modificationDate: dateField)
    indexes =
      json["indexes"]?.elements.compactMap { index in
        guard let path = index["path"]?.string, let type = index["type"]?.string else { return nil }
        return SoupIndex(path: path, type: SoupIndexType(rawValue: type))
      } ?? []
    createFields = json["createFields"]?.elements.compactMap(\.string)
  }
}
