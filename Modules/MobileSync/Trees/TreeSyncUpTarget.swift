/// A target that uploads parents together with their children.
///
/// The engine finds the trees with local changes, decides what each record needs, splits what is too
/// long for one request, creates lost records again and gives children the ids of parents that were created
/// with them. A plugin writes requests and reads responses. The soup of the sync itself is not used.
public protocol TreeSyncUpTarget: SyncUpTarget {
  /// The soup of the parents.
  var parentSoup: SyncSoup { get }

  /// The soup of the children. Its ``SyncSoup/parent`` names the parents' soup.
  var childSoup: SyncSoup { get }

  /// Which fields of children are sent; without a list, only the parent's id. The lists of the sync's
  /// options are the parents'.
  var childFields: SyncUpFields { get }

  /// Whether the server deletes children together with their parent.
  var deletesChildrenWithParent: Bool { get }

  /// How many records go with one request.
  var maxStepsPerRequest: Int { get }

  /// Sends records of one tree with one request.
  ///
  /// - Returns: One outcome per step, in the same order. A child whose parent is gone is refused with
  ///   an error whose code is `ENTITY_IS_DELETED`.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func send(steps: [CompositeStep], in context: SyncContext) async throws -> [SyncUpOutcome]

  /// When the records of a tree were modified last on the server, for conflict detection.
  ///
  /// - Returns: nil if the server does not say; then the tree is not sent.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func remoteDates(
    ofTreeWithParent id: String, in context: SyncContext
  ) async throws -> RemoteTreeDates?
}

extension TreeSyncUpTarget {
  /// Refused: a tree target sends with ``send(steps:in:)`` alone.
  public func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    throw SyncError(
      .invalidTarget,
      "The target '\(Self.kind.typeName)' sends trees, not single records. Run it with the sync "
        + "manager.")
  }
}

/// The server's modification dates of a tree's records. A record without a date was deleted.
public struct RemoteTreeDates: Sendable, Equatable {
  /// The parent's date.
  public let parent: RemoteDate
  /// The children's dates by their ids.
  public let children: [String: RemoteDate]

  /// Gives the dates of a tree.
  public init(parent: RemoteDate, children: [String: RemoteDate]) {
    self.parent = parent
    self.children = children
  }
}
