import Testing

@testable import MobileSync
import TestSupport

/// Which stage follows which in a sync up, whatever the stages come to?
@Suite struct SyncUpMachineTests {
  private typealias Event = SyncUpMachine.Event
  private typealias Upload = SyncUpMachine.Upload

  /// What stages may come to in a run over at most three entries. Entry 9 stands for one that became one with another.
  private static let events: [Event] = [
    .listed([]), .listed([1]), .listed([1, 2, 3]), .recovered, .checked, .ordered(nil),
    .ordered([[2], [], [1, 3]]), .cut(count: 0), .cut(count: 1), .cut(count: 2), .cut(count: 4),
    .uploaded(Upload()), .uploaded(Upload(again: [9])), .uploaded(Upload(incomplete: [1])),
    .uploaded(Upload(hasLost: true, leftOut: 1)), .recreated(Upload()),
    .recreated(Upload(incomplete: [2], leftOut: 1)), .recreated(Upload(hasLost: true)), .completed,
  ]

  /// What is known of a run so far.
  private struct Course {
    var machine = SyncUpMachine()
    var events: [Event] = []
    var actions: [SyncUpMachine.Action] = []
    var ids: [Int64] = []
    var order: [Int64] = []
    /// What was cut, in order, and what of it in the last pass.
    var cut: [Int64] = []
    var cutLast: [Int64] = []
    var again: [Int64] = []
    var incomplete: Set<Int64> = []
    var leftOut = 0
    var progress: [Int] = []
    /// How often something was incomplete, and records were lost.
    var incompleteCount = 0
    var lossCount = 0

    /// Whether the event is among those that a run is extended by: not if it would let runs grow without end.
    func allows(_ event: Event) -> Bool {
      switch event {
      // Levels of entries that are not the run's would be a mistake of the stage.
      case .ordered(let levels?): levels.flatMap(\.self).sorted() == ids
      case .uploaded(let upload), .recreated(let upload):
        again.count + upload.again.count <= 2
          && incompleteCount + upload.incomplete.count <= 2
          && lossCount + (upload.hasLost ? 1 : 0) <= 1
      default: true
      }
    }

    mutating func note(_ event: Event) {
      if case .cut(let count) = event, case .cut(let rest, let isLast) = actions.last {
        cut += rest.prefix(count)
        if isLast { cutLast += rest.prefix(count).filter { $0 != 9 } }
      }
      switch event {
      case .listed(let ids): self.ids = ids
      case .ordered(let levels): order = levels?.flatMap(\.self) ?? ids
      case .uploaded(let upload), .recreated(let upload):
        again += upload.again
        incomplete.formUnion(upload.incomplete)
        leftOut += upload.leftOut
        incompleteCount += upload.incomplete.count
        lossCount += upload.hasLost ? 1 : 0
      default: break
      }
      events.append(event)
    }
  }

  /// Which stage may follow which.
  private static func mayFollow(_ last: SyncUpMachine.Action?, _ next: SyncUpMachine.Action) -> Bool
  {
    switch (last, next) {
    case (nil, .recover), (nil, .checkConflicts), (.recover, .checkConflicts),
      (.checkConflicts, .order), (.order, .cut), (.order, .finish), (.cut, .upload),
      (.upload, .recreate), (.upload, .complete), (.recreate, .complete), (.complete, .cut),
      (.complete, .finish):
      true
    default: false
    }
  }

  /// Records an issue with the run's events. An expectation would describe them for every step.
  private func check(_ holds: Bool, _ what: @autoclosure () -> String, _ course: Course) {
    if !holds { Issue.record("\(what()): \(course.events)") }
  }

  /// Extends a run by every event, in every way, and checks each step.
  ///
  /// - Returns: The number of runs that ended.
  private func extend(_ course: Course) -> Int {
    var ended = 0
    var isStuck = true
    for event in Self.events where course.allows(event) {
      var next = course
      guard let action = next.machine.handle(event) else {
        check(next.machine == course.machine, "\(event) is ignored and changes the machine", course)
        continue
      }
      isStuck = false
      next.note(event)
      check(Self.mayFollow(course.actions.last, action), "A wrong stage follows", next)
      if case .complete(let progress) = action { next.progress += progress }
      if case .cut(let rest, _) = action { check(!rest.isEmpty, "An empty batch", next) }
      next.actions.append(action)
      if case .finish(let leftOut) = action {
        check(next, leftOut)
        ended += 1
      } else {
        ended += extend(next)
      }
    }
    check(!isStuck, "No event is accepted", course)
    return ended
  }

  private func check(_ course: Course, _ leftOut: Int) {
    check(leftOut == course.leftOut, "Records that were left out are not counted", course)
    let expected = course.ids + course.again + course.cutLast
    check(
      course.cut.sorted() == expected.sorted(),
      "An entry goes other than once, and again where a stage said so", course)
    check(course.cut.starts(with: course.order.prefix(1)), "The order is not kept", course)
    check(
      course.cut.filter(course.ids.contains).starts(with: course.order), "The order is not kept",
      course)
    check(
      Set(course.cutLast).isSubset(of: course.incomplete)
        && course.cutLast.count == Set(course.cutLast).count,
      "The last pass has other entries than those that are incomplete", course)
    check(
      course.incomplete.isEmpty || !course.cutLast.isEmpty, "An incomplete entry is left", course)
    check(
      course.progress == course.progress.sorted()
        && course.progress.allSatisfy { (0..<100).contains($0) }
        && course.progress.count <= max(course.ids.count - 1, 0), "The progress is wrong", course)
    check(
      Self.events.allSatisfy { event in
        var ended = course.machine
        return ended.handle(event) == nil
      }, "An ended run accepts an event", course)
  }

  /// All runs over at most three entries, in which two go again, two are incomplete and the server loses records once.
  @Test func `every sequence of events keeps the order of the stages and leaves no entry out`() {
    #expect(extend(Course()) == 2_987)
  }

  @Test func `a run without entries compares and ends`() {
    var machine = SyncUpMachine()
    #expect(machine.handle(.listed([])) == .checkConflicts)
    #expect(machine.handle(.checked) == .order)
    #expect(machine.handle(.ordered(nil)) == .finish(leftOut: 0))
  }

  @Test func `what is incomplete goes once more, after all levels, by entry id`() {
    var machine = SyncUpMachine()
    _ = machine.handle(.listed([1, 2]))
    _ = machine.handle(.recovered)
    _ = machine.handle(.checked)
    #expect(machine.handle(.ordered([[2], [1]])) == .cut(from: [2], isLastPass: false))
    _ = machine.handle(.cut(count: 1))
    #expect(machine.handle(.uploaded(Upload(incomplete: [2]))) == .complete(progress: [50]))
    #expect(machine.handle(.completed) == .cut(from: [1], isLastPass: false))
    _ = machine.handle(.cut(count: 1))
    _ = machine.handle(.uploaded(Upload(incomplete: [1])))
    #expect(machine.handle(.completed) == .cut(from: [1, 2], isLastPass: true))
    _ = machine.handle(.cut(count: 2))
    _ = machine.handle(.uploaded(Upload(incomplete: [1])))
    #expect(machine.handle(.completed) == .finish(leftOut: 0))
  }

  @Test func `an entry that goes again counts when it is done`() {
    var machine = SyncUpMachine()
    _ = machine.handle(.listed([1, 2]))
    _ = machine.handle(.recovered)
    _ = machine.handle(.checked)
    _ = machine.handle(.ordered(nil))
    _ = machine.handle(.cut(count: 1))
    #expect(machine.handle(.uploaded(Upload(again: [1]))) == .complete(progress: []))
    #expect(machine.handle(.completed) == .cut(from: [2, 1], isLastPass: false))
  }
}
