/// A target that uploads parents together with their children.
///
/// The engine finds the trees with local changes, decides the action for each record, splits trees
/// that are too long for one request, creates lost records again, and sets the ids of new parents
/// in their children. A plugin writes requests and reads responses. The soup of the sync itself is
/// not used.
public protocol TreeSyncUpTarget: SyncUpTarget {
  /// The soup of the parents.
  var parentSoup: SyncSoup { get }

  /// The soup of the children. Its ``SyncSoup/parent`` names the parents' soup.
  var childSoup: SyncSoup { get }

  /// The fields of children to send; without a list, only the parent's id. The lists in the sync's
  /// options are for parents.
  var childFields: SyncUpFields { get }

  /// Whether the server deletes children together with their parent.
  var deletesChildrenWithParent: Bool { get }

  /// The maximum number of records in one request.
  var maxStepsPerRequest: Int { get }

  /// Sends records of one tree with one request.
  ///
  /// - Returns: One outcome per step, in the same order. A child whose parent is gone is refused with
  ///   an error whose code is `ENTITY_IS_DELETED`.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func send(steps: [CompositeStep], in context: SyncContext) async throws -> [SyncUpOutcome]

  /// Fetches the modification dates of a tree's records on the server, to detect conflicts.
  ///
  /// - Returns: nil if the server does not return them; then the tree is not sent.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func remoteDates(
    ofTreeWithParent id: String, in context: SyncContext
  ) async throws -> RemoteTreeDates?
}

extension TreeSyncUpTarget {
  /// Throws: a tree target sends only with ``send(steps:in:)``.
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

  /// Creates the dates of a tree.
  public init(parent: RemoteDate, children: [String: RemoteDate]) {
    self.parent = parent
    self.children = children
  }
}
