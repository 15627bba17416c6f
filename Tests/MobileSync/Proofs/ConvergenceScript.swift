import MobileSync
import TestSupport

/// A short story of three devices and one org: what happens, in order.
struct ConvergenceScript: Sendable, CustomStringConvertible {
  /// Something that happens.
  enum Step: Sendable {
    /// Somebody writes a new value into a field. Side 3 is the org.
    case edit(side: Int, pick: Int, field: Int)
    /// Somebody makes a record.
    case create(side: Int)
    /// A device's user makes a record that equals every other of its kind.
    case createEqual(device: Int)
    /// A device's user lets a record refer to one that does not exist.
    case misdirect(device: Int, pick: Int)
    /// Somebody deletes a record.
    case delete(side: Int, pick: Int)
    /// Something changes on the server in a transaction that commits late.
    case lateEdit(pick: Int, field: Int)
    case lateCreate
    /// A device runs a sync, and something may go wrong.
    case sync(device: Int, Sync, Trouble?)
    /// A device decides a conflict, if it has one.
    case resolve(device: Int, Decision)
    /// A device's process ends; its store is opened anew.
    case restart(device: Int)
  }

  enum Sync: String, Sendable, CaseIterable { case down, up, ghosts }

  enum Decision: Int, Sendable, CaseIterable { case mine, theirs, values }

  /// What goes wrong with a request of a sync, the first being 1.
  struct Trouble: Sendable {
    let request: Int
    let kind: Kind

    enum Kind: Int, Sendable, CaseIterable {
      case unreachable, dropAnswer, busy, expired, killBefore, killAfter
      /// The device's user goes on working meanwhile.
      case edit, create, delete
    }
  }

  let steps: [Step]
  /// By how many hours the clock of each device is ahead of the org's.
  let hoursAhead: [Int]

  /// The story of a seed.
  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 6...24, using: &random)
    steps = (0..<count).map { _ in Self.step(&random) }
    hoursAhead = (0..<3).map { _ in [0, 0, -11, -2, 3, 14].randomElement(using: &random) ?? 0 }
  }

  init(steps: [Step], hoursAhead: [Int] = [0, 0, 0]) {
    self.steps = steps
    self.hoursAhead = hoursAhead
  }

  private static func step(_ random: inout SeededGenerator) -> Step {
    func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }
    switch number(0..<22) {
    case 20: return .createEqual(device: number(0..<3))
    case 21:
      return number(0..<2) == 0
        ? .createEqual(device: number(0..<3))
        : .misdirect(device: number(0..<3), pick: number(0..<6))
    case 0..<5: return .edit(side: number(0..<4), pick: number(0..<6), field: number(0..<2))
    case 5, 6: return .create(side: number(0..<4))
    case 7: return .delete(side: number(0..<4), pick: number(0..<6))
    case 8:
      return number(0..<2) == 0
        ? .lateCreate : .lateEdit(pick: number(0..<6), field: number(0..<2))
    case 9: return .restart(device: number(0..<3))
    case 10:
      return .resolve(device: number(0..<3), Decision(rawValue: number(0..<3)) ?? .mine)
    default:
      let trouble =
        number(0..<3) == 0
        ? Trouble(
          request: number(1..<4),
          kind: Trouble.Kind(rawValue: number(0..<Trouble.Kind.allCases.count)) ?? .busy)
        : nil
      let sync: Sync = [.down, .down, .up, .up, .up, .ghosts][number(0..<6)]
      return .sync(device: number(0..<3), sync, trouble)
    }
  }

  /// The shortest story that still fails, by leaving out one part after the other.
  func shrunk(_ fails: (ConvergenceScript) async -> Bool) async -> ConvergenceScript {
    var steps = steps
    var size = max(steps.count / 2, 1)
    while true {
      var start = 0
      var removedAny = false
      while start < steps.count {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + size, steps.count))
        if await fails(ConvergenceScript(steps: shorter, hoursAhead: hoursAhead)) {
          steps = shorter
          removedAny = true
        } else {
          start += size
        }
      }
      if size == 1, !removedAny { return ConvergenceScript(steps: steps, hoursAhead: hoursAhead) }
      if !removedAny { size = max(size / 2, 1) }
    }
  }

  var description: String {
    "The devices' clocks are ahead by \(hoursAhead) hours.\n"
      + steps.enumerated().map { "\($0.offset + 1). \($0.element)" }.joined(separator: "\n")
  }
}

extension ConvergenceScript.Step: CustomStringConvertible {
  var description: String {
    func name(_ side: Int) -> String { side == 3 ? "org" : "device \(side)" }
    switch self {
    case .edit(let side, let pick, let field):
      return "\(name(side)) edits record \(pick), field \(field)"
    case .create(let side): return "\(name(side)) makes a record"
    case .createEqual(let device): return "device \(device) makes a record like others of its own"
    case .misdirect(let device, let pick):
      return "device \(device) lets record \(pick) refer to one that does not exist"
    case .delete(let side, let pick): return "\(name(side)) deletes record \(pick)"
    case .lateEdit(let pick, let field): return "org edits record \(pick), field \(field), late"
    case .lateCreate: return "org makes a record, late"
    case .sync(let device, let sync, let trouble):
      let what = trouble.map { " with \($0.kind) at request \($0.request)" } ?? ""
      return "device \(device) syncs \(sync)\(what)"
    case .resolve(let device, let decision): return "device \(device) decides for \(decision)"
    case .restart(let device): return "device \(device) starts anew"
    }
  }
}
