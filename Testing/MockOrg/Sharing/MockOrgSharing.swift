/// The org-wide default: the access of every user to an object's records of other users.
///
/// A record's owner may do everything with it. Beyond owner and default there is only what a profile
/// grants: no roles, no sharing rules, no shares of single records.
public struct MockOrgSharing: Sendable, Hashable {
  /// What one may do with a record; each includes those before it.
  enum Level: Int, Comparable {
    case nothing, read, edit, transfer, all

    static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// The platform's word, as object definitions have it.
  let model: String

  /// Nothing: others do not see that the record is there.
  public static let `private` = MockOrgSharing(model: "Private")
  /// To read them.
  public static let read = MockOrgSharing(model: "Read")
  /// To change them, though not to delete them or to give them to another user.
  public static let readWrite = MockOrgSharing(model: "ReadWrite")
  /// To change them and to give them to another user.
  public static let readWriteTransfer = MockOrgSharing(model: "ReadWriteTransfer")
  /// Everything.
  public static let fullAccess = MockOrgSharing(model: "FullAccess")
  /// What they may do with the parent: that of the object's master-detail relationship, or else of its
  /// first reference to another object.
  public static let controlledByParent = MockOrgSharing(model: "ControlledByParent")

  private static let all: [MockOrgSharing] = [
    .private, .read, .readWrite, .readWriteTransfer, .fullAccess, .controlledByParent,
  ]

  private init(model: String) { self.model = model }

  /// The default that an object definition's `sharingModel` names, in whatever case; nil if it names
  /// none.
  public init?(sharingModel: String) {
    let name = sharingModel.lowercased()
    guard let known = Self.all.first(where: { $0.model.lowercased() == name }) else { return nil }
    self = known
  }

  /// What it gives to those who do not own the record; nil if the parent decides.
  var level: Level? {
    switch self {
    case .private: .nothing
    case .read: .read
    case .readWrite: .edit
    case .readWriteTransfer: .transfer
    case .fullAccess: .all
    default: nil
    }
  }
}

extension MockOrg {
  /// Sets what every user may do with the records of an object that belong to other users. Without it,
  /// that is what the object's definition says, or else to read and change them.
  ///
  /// It holds for users whose profile does not view or modify all data.
  ///
  /// - Throws: ``MockOrgError`` `invalidData` if the org does not know the object; `storage`.
  public func setSharing(
    _ sharing: MockOrgSharing, of object: String
  ) async throws(MockOrgError) {
    guard var known = schema.object(named: object) else {
      throw MockOrgError(
        .invalidData, "The sharing of \(object) cannot be set: the org does not know the object.")
    }
    known.sharing = sharing
    var schema = schema
    schema.insert(known)
    try await change(to: schema, names: [known.name])
  }
}
