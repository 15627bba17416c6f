import TestSupport
@testable import MobileSyncTests

/// Draws stories in scenes: what a user does on a device, and the syncs that follow, are likelier to
/// meet than single steps are.
struct StoryDrawing {
  private typealias Step = ConvergenceStory.Step

  var random: SeededGenerator

  /// The next steps of a story.
  mutating func scene() -> [ConvergenceStory.Step] {
    let device = number(0..<3)
    switch number(0..<12) {
    case 0..<5: return session(device)
    case 5, 6, 7: return (0..<number(1..<3)).map { _ in serverChange() }
    case 8: return [.sync(device: device, .down(number(0..<4)), fault(oneOf: 3))]
    case 9: return [.sync(device: device, .ghosts(number(0..<4)), fault(oneOf: 4))]
    case 10: return [.resolve(device: device, pick([.mine, .theirs, .values]))]
    default:
      switch number(0..<5) {
      case 0: return [.addField(device: device)]
      case 1: return [.rescue(device: device, into: number(0..<3))]
      case 2, 3: return [.undo(device: device, pick: number(0..<6))]
      default: return [.restart(device: device)]
      }
    }
  }

  /// A user works and syncs: up, and often down and up again.
  private mutating func session(_ device: Int) -> [Step] {
    var steps = (0..<number(1..<4)).map { _ in userChange(device) }
    let up: ConvergenceStory.Sync = pick([.related, .up(number(0..<3))])
    steps.append(.sync(device: device, up, fault(oneOf: 2)))
    if number(0..<4) == 0 { steps.append(serverChange()) }
    if number(0..<2) == 0 {
      steps.append(.sync(device: device, .down(number(0..<4)), fault(oneOf: 5)))
      if number(0..<3) == 0 { steps.append(userChange(device)) }
      if number(0..<2) == 0 { steps.append(.sync(device: device, up, fault(oneOf: 4))) }
    }
    return steps
  }

  private mutating func userChange(_ device: Int) -> Step {
    let record = number(0..<6)
    switch number(0..<16) {
    case 0..<7: return .edit(side: .device(device), pick: record, field: number(0..<3))
    case 7..<11: return .create(side: .device(device), pick: record)
    case 11: return .createEqual(device: device)
    case 12: return .delete(side: .device(device), pick: record)
    case 13, 14: return .relate(device: device, pick: record, to: number(0..<6))
    default: return .misdirect(device: device, pick: record)
    }
  }

  private mutating func serverChange() -> Step {
    let record = number(0..<6)
    switch number(0..<14) {
    case 0..<5: return .edit(side: .server, pick: record, field: number(0..<4))
    case 5: return .create(side: .server, pick: record)
    case 6: return .lateCreate(pick: record)
    case 7: return .lateEdit(pick: record, field: number(0..<4))
    case 8, 9: return .delete(side: .server, pick: record)
    case 10: return .undelete(pick: record)
    case 11: return .replace(pick: record)
    default: return .move(pick: record, isKind: number(0..<2) == 0)
    }
  }

  /// A fault in one of so many syncs.
  private mutating func fault(oneOf count: Int) -> ConvergenceStory.Fault? {
    guard number(0..<count) == 0 else { return nil }
    return ConvergenceStory.Fault(
      request: pick([1, 1, 1, 2, 2, 3, 4]),
      kind: pick(
        ConvergenceStory.Fault.Kind.allCases + [.dropResponse, .dropResponse, .killAfter, .cutBody]
      ))
  }

  private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }

  private mutating func pick<Value>(_ values: [Value]) -> Value { values[number(0..<values.count)] }
}
