public import SalesforceSDKCommon
import Synchronization

// Rules that an org of the platform applies to records.
extension InMemoryOrg {
  /// A record that was created, updated, deleted or restored.
  public struct Change: Sendable {
    /// The object type.
    public let type: String
    /// The record's id.
    public let id: String
    /// The record before the change; nil if it did not exist.
    public let old: JSONObject?
    /// The record after the change; nil if it was deleted.
    public let new: JSONObject?
  }

  /// An update that a flow makes.
  public struct FlowUpdate: Sendable {
    let type: String
    let id: String
    let fields: JSONObject

    /// Describes the update of a record; without fields it changes only the modification date.
    public init(_ type: String, _ id: String, _ fields: JSONObject = [:]) {
      self.type = type
      self.id = id
      self.fields = fields
    }
  }

  /// Changes the values of each record before it is stored, like an org that trims texts, formats
  /// phone numbers and rounds numbers. Default: values are stored as they were sent.
  ///
  /// - Parameter body: Called with the object type and the created or updated fields. nil ends the
  ///   changes.
  public func changeValuesOnSaving(_ body: (@Sendable (String, inout JSONObject) -> Void)?) {
    state.withLock { $0.saving = body }
  }

  /// Runs a flow after each change of a record by any user. Default: none.
  ///
  /// - Parameter flow: Returns the resulting updates. Each changes the record's modification date
  ///   and does not run the flow again; updates of missing records are ignored. nil ends the flow.
  public func runAfterChanges(_ flow: (@Sendable (Change) -> [FlowUpdate])?) {
    state.withLock { $0.flow = flow }
  }

  /// Restores a deleted record under its id, with a new modification date, and the children that were
  /// deleted with it. Does nothing if the record is not in the recycle bin.
  public func undelete(_ id: String) { state.withLock { $0.restore(id) } }

  /// Returns the deleted records of a type that ``undelete(_:)`` restores, by id.
  public func deletedRecords(_ type: String) -> [JSONObject] {
    state.withLock { state in
      state.bin.sorted { $0.key < $1.key }.map(\.value)
        .filter { $0["attributes"]?["type"]?.string == type }
    }
  }
}
