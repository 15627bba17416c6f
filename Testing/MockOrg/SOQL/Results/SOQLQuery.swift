import GRDB

/// A SOQL query compiled to the parts of one SQL statement, and the shape of its rows.
///
/// The parts are apart so that a result of many pages can be found once and read page by page: the
/// rowids of the root table in order first (`rootRowID`, `from`, `condition`, `order`, `limit`,
/// `offset`), then for each page the `columns` of those rowids. The root table's alias is ``rootAlias``
/// and it stands first in `from`.
struct SOQLQuery: Sendable {
  /// The alias of the root object's table.
  static let rootAlias = "t0"

  enum Kind: Sendable {
    /// Records of one object, shaped by `record`.
    case records
    /// `SELECT COUNT() FROM ...`: `columns` is one expression that gives the count; no rows are shown.
    case count
    /// Aggregates or GROUP BY: every row is an `AggregateResult`, shaped by `record`, and has no rowid.
    case aggregate
  }

  var kind: Kind
  /// The API name of the object behind FROM, in the schema's case.
  var object: String
  /// The SQL expressions of the result, without aliases; ``SOQLRecordShape`` names them by position.
  var columns: [String]
  /// All that stands behind SQL's FROM: `"Account" AS t0 LEFT JOIN "User" AS t1 ON t1."Id" = t0."OwnerId"`.
  var from: String
  /// All that stands behind WHERE, `t0."IsDeleted" = 0` included unless deleted records are requested.
  var condition: String?
  /// All that stands behind GROUP BY, a HAVING clause included.
  var group: String?
  /// All that stands behind ORDER BY.
  var order: String?
  var limit: Int?
  var offset: Int?
  /// The values of the question marks in `from`, in order.
  var fromArguments: [DatabaseValue] = []
  /// The values of the question marks in `condition`, in order.
  var conditionArguments: [DatabaseValue] = []
  /// The values of the question marks in `group`.
  var groupArguments: [DatabaseValue] = []
  /// `FOR VIEW`: the records of the result count as viewed by the user.
  var marksViewed = false
  /// `FOR REFERENCE`: the records of the result count as referenced by the user.
  var marksReferenced = false
  var record: SOQLRecordShape

  /// Adds a condition behind the others, with the values of its question marks.
  mutating func restrict(to sql: String, _ arguments: [DatabaseValue] = []) {
    condition = condition.map { "(\($0)) AND \(sql)" } ?? sql
    conditionArguments += arguments
  }
}

/// How one record of a result is written: `attributes` first, then the members in the order of SELECT.
struct SOQLRecordShape: Sendable {
  enum TypeName: Sendable {
    /// The object's API name.
    case named(String)
    /// The object that the id's prefix names (a polymorphic parent such as `Owner`).
    case byKeyPrefix
    /// `AggregateResult`, which has no url.
    case aggregateResult
  }

  indirect enum Member: Sendable {
    /// A field or expression; its value is written by its type.
    case field(key: String, column: Int, type: FieldType)
    /// A value as the user's locale writes it.
    case formatted(key: String, column: Int, SOQLFormat)
    /// An address or location: an object of its parts, or null if every part is null.
    case compound(key: String, parts: [CompoundColumn])
    /// A parent: an object of its own, or null if its id is null.
    case parent(key: String, SOQLRecordShape)
    /// A parent of one of several objects: shaped by the first whose id is not null, or else by
    /// `otherwise`, or null.
    case variants(key: String, [SOQLRecordShape], otherwise: SOQLRecordShape?)
    /// Children: an object `totalSize`, `done`, `records`, or null if there are none. The query's last
    /// condition argument is left out: the engine appends the parent's id, read from `parentID`.
    case children(key: String, SOQLQuery, parentID: Int)
  }

  struct CompoundColumn: Sendable {
    var key: String
    var column: Int
    var type: FieldType
  }

  var type: TypeName
  /// The column with the record's id, for `attributes.url` and to tell an absent parent; nil for an
  /// aggregate row.
  var id: Int?
  var members: [Member]
}
