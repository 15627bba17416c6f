import TestSupport
@testable import MobileSyncTests

/// What happens in a world, in order.
struct ConvergenceStory: Sendable {
  /// Something that happens. Numbers pick a device, a record or a sync among those that there are then;
  /// a device or record that is missing makes the step empty.
  enum Step: Sendable {
    /// A user writes a new value into a field.
    case edit(side: Side, pick: Int, field: Int)
    /// A user creates a record, which may refer to another.
    case create(side: Side, pick: Int)
    /// A device's user creates a record that equals the others of this kind of that device.
    case createEqual(device: Int)
    /// A device's user lets a record refer to one that does not exist.
    case misdirect(device: Int, pick: Int)
    /// A device's user lets a record refer to another.
    case relate(device: Int, pick: Int, to: Int)
    /// A user deletes a record.
    case delete(side: Side, pick: Int)
    /// A user of the server restores a deleted record.
    case undelete(pick: Int)
    /// A user of the server deletes a record and creates one with the same external id.
    case replace(pick: Int)
    /// A user of the server changes which syncs fetch a record.
    case move(pick: Int, isKind: Bool)
    /// Something changes on the server in a transaction that commits late.
    case lateEdit(pick: Int, field: Int)
    case lateCreate(pick: Int)
    /// A device runs a sync, and a fault may occur.
    case sync(device: Int, Sync, Fault?)
    /// A device's user resolves a conflict, if there is one.
    case resolve(device: Int, Decision)
    /// A device's user undoes a local change.
    case undo(device: Int, pick: Int)
    /// What a device has not uploaded is rescued from it, and merged into another device or into its own new store.
    case rescue(device: Int, into: Int)
    /// A device's syncs down fetch one more field from now on.
    case addField(device: Int)
    /// A device's process ends and starts again.
    case restart(device: Int)
  }

  enum Side: Sendable, Equatable {
    case device(Int)
    case server
  }

  /// A sync, or cleaning after one, by its number.
  enum Sync: Sendable {
    case down(Int)
    case up(Int)
    case related
    case ghosts(Int)
  }

  enum Decision: Int, Sendable, CaseIterable { case mine, theirs, values }

  /// What goes wrong with a request of a sync, the first being 1.
  struct Fault: Sendable {
    let request: Int
    let kind: Kind

    enum Kind: Int, Sendable, CaseIterable {
      case unreachable, dropResponse, busy, expired, cutBody, killBefore, killAfter
      /// The device's user changes something while the request is under way.
      case edit, create, delete
      /// The server completes a create some seconds after the connection broke, or half a minute after the process was
      /// killed.
      case late, killLate
      /// A user of the server does.
      case serverEdit
    }
  }

  var steps: [Step]

  init(steps: [Step]) { self.steps = steps }

  /// The story of a seed.
  init(_ random: inout SeededGenerator) {
    let count = Int.random(in: 5...16, using: &random)
    steps = []
    var draw = StoryDrawing(random: random)
    while steps.count < count { steps += draw.scene() }
    random = draw.random
  }
}

extension ConvergenceStory.Step: CustomStringConvertible {
  var description: String {
    func name(_ side: ConvergenceStory.Side) -> String {
      switch side {
      case .device(let number): "device \(number)"
      case .server: "server"
      }
    }
    switch self {
    case .edit(let side, let pick, let field):
      return "\(name(side)) edits record \(pick), field \(field)"
    case .create(let side, let pick): return "\(name(side)) creates a record (\(pick))"
    case .createEqual(let device): return "device \(device) creates a record like others of its own"
    case .misdirect(let device, let pick):
      return "device \(device) lets record \(pick) refer to a missing one"
    case .relate(let device, let pick, let other):
      return "device \(device) lets record \(pick) refer to record \(other)"
    case .delete(let side, let pick): return "\(name(side)) deletes record \(pick)"
    case .undelete(let pick): return "server restores record \(pick)"
    case .replace(let pick): return "server replaces record \(pick)"
    case .move(let pick, let isKind):
      return "server moves record \(pick) by its \(isKind ? "kind" : "region")"
    case .lateEdit(let pick, let field): return "server edits record \(pick), field \(field), late"
    case .lateCreate(let pick): return "server creates a record (\(pick)), late"
    case .sync(let device, let sync, let fault):
      let what = fault.map { " with \($0.kind) at request \($0.request)" } ?? ""
      return "device \(device) syncs \(sync)\(what)"
    case .resolve(let device, let decision):
      return "device \(device) resolves a conflict by \(decision)"
    case .undo(let device, let pick): return "device \(device) undoes change \(pick)"
    case .rescue(let device, let other):
      return "device \(device) is rescued into device \(other)"
    case .addField(let device): return "device \(device) fetches a further field"
    case .restart(let device): return "device \(device) restarts"
    }
  }
}
