public import SalesforceSDKCommon
import Synchronization

/// The kinds of targets that stored syncs and configuration files can name.
///
/// It starts empty: `StandardSyncTargets.register(into:)` registers the standard targets, and
/// ``register(_:)-swift.method`` registers your own in the same way. Targets are looked up when a
/// sync is created and whenever it runs.
public final class SyncTargetRegistry: Sendable {
  private struct Contents {
    var down: [String: any SyncDownTarget.Type] = [:]
    var up: [String: any SyncUpTarget.Type] = [:]
    var defaultUp: (any SyncUpTarget.Type)?
  }

  private let contents = Mutex(Contents())

  /// Creates an empty registry.
  public init() {}

  /// Registers a kind of sync down target under all its names. Registering it again does nothing.
  ///
  /// - Throws: ``SyncError`` `duplicateTarget` if a name belongs to another target already.
  public func register<Target: SyncDownTarget>(_ target: Target.Type) throws(SyncError) {
    Self.checkDirection(Target.kind, .syncDown)
    let taken = contents.withLock { contents in
      Self.add(target, Target.kind.names, to: &contents.down) { ObjectIdentifier($0) }
    }
    if let taken { throw Self.duplicate(taken, Target.kind) }
  }

  /// Registers a kind of sync up target under all its names. Registering it again does nothing.
  ///
  /// - Parameter asDefault: Whether JSON that names no kind means this one.
  /// - Throws: ``SyncError`` `duplicateTarget` if a name already belongs to another target, or
  ///   another target is the default.
  public func register<Target: SyncUpTarget>(
    _ target: Target.Type, asDefault: Bool = false
  ) throws(SyncError) {
    Self.checkDirection(Target.kind, .syncUp)
    let taken: String? = contents.withLock { contents in
      if asDefault, let other = contents.defaultUp,
        ObjectIdentifier(other) != ObjectIdentifier(target)
      {
        return "the default"
      }
      if let taken = Self.add(target, Target.kind.names, to: &contents.up, { ObjectIdentifier($0) })
      {
        return taken
      }
      if asDefault { contents.defaultUp = target }
      return nil
    }
    if let taken { throw Self.duplicate(taken, Target.kind) }
  }

  /// Builds a sync down target from its JSON: by `iOSImpl`, else by `type`, else by `androidImpl`.
  ///
  /// - Throws: ``SyncError`` `unknownTarget`, naming the requested target; `invalidTarget` if the
  ///   target cannot be built.
  public func downTarget(from json: JSONObject) throws -> any SyncDownTarget {
    let name = Self.names(in: json)
    let found = contents.withLock { contents in
      (Self.find(name, in: contents.down), isOther: Self.find(name, in: contents.up) != nil)
    }
    guard let target = found.0 else { throw Self.unknown(name, .syncDown, found.isOther) }
    return try target.init(configuration: json)
  }

  /// Builds a sync up target from its JSON: by `iOSImpl`, else by `type`, else by `androidImpl`.
  /// JSON without these keys, such as `{}`, means the default target.
  ///
  /// - Throws: As ``downTarget(from:)``.
  public func upTarget(from json: JSONObject) throws -> any SyncUpTarget {
    let name = Self.names(in: json)
    let found = contents.withLock { contents in
      (
        name.isEmpty ? contents.defaultUp : Self.find(name, in: contents.up),
        isOther: Self.find(name, in: contents.down) != nil
      )
    }
    guard let target = found.0 else { throw Self.unknown(name, .syncUp, found.isOther) }
    return try target.init(configuration: json)
  }

  // MARK: Lookup

  /// The names of a target's kind in its JSON, by precedence.
  private struct Names {
    let implementation: String?
    let type: String?
    let androidImplementation: String?

    var isEmpty: Bool { implementation == nil && type == nil && androidImplementation == nil }
    var described: String {
      [implementation, type, androidImplementation].compactMap(\.self).first ?? "no type"
    }
  }

  private static func names(in json: JSONObject) -> Names {
    Names(
      implementation: json.syncText("iOSImpl"), type: json.syncText("type"),
      androidImplementation: json.syncText("androidImpl"))
  }

  private static func find<Value>(_ names: Names, in table: [String: Value]) -> Value? {
    if let implementation = names.implementation { return table[implementation] }
    if let type = names.type, let found = table[type] { return found }
    if let android = names.androidImplementation { return table[android] }
    return nil
  }

  /// Enters `value` under all `names`, or returns the name that belongs to another.
  private static func add<Value>(
    _ value: Value, _ names: Set<String>, to table: inout [String: Value],
    _ identity: (Value) -> ObjectIdentifier
  ) -> String? {
    for name in names.sorted() {
      if let other = table[name], identity(other) != identity(value) { return name }
    }
    for name in names { table[name] = value }
    return nil
  }

  private static func checkDirection(_ kind: SyncTargetKind, _ direction: SyncType) {
    precondition(
      kind.direction == direction,
      "\(kind.implementationName) is a \(direction.rawValue) target but its kind says \(kind.direction)"
    )
  }

  private static func duplicate(_ name: String, _ kind: SyncTargetKind) -> SyncError {
    SyncError(
      .duplicateTarget,
      "'\(kind.implementationName)' cannot be registered as \(name): another target has that name. "
        + "Choose another name.")
  }

  private static func unknown(_ names: Names, _ direction: SyncType, _ isOther: Bool) -> SyncError {
    if isOther {
      return SyncError(
        .unknownTarget,
        "Unknown target type '\(names.described)': a \(direction.rawValue) needs a target of its own "
          + "direction, and this one is of the other.")
    }
    return SyncError(
      .unknownTarget,
      "Unknown target type '\(names.described)' for a \(direction.rawValue). Register its plugin, or "
        + "correct the target's JSON.")
  }
}
