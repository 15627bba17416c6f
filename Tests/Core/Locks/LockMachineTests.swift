import TestSupport
import Testing

@testable import SalesforceSDKCore

/// When is an app locked, over all short histories?
struct LockMachineTests {
  private static let ann = UserAccountIdentity(
    userId: "005000000000001AAA", organizationId: "00D000000000001EAA")
  private static let bob = UserAccountIdentity(
    userId: "005000000000002AAA", organizationId: "00D000000000001EAA")
  private static let policies = [
    ann: LockPolicy(timeoutMinutes: 2, passcodeLength: 6), bob: LockPolicy(timeoutMinutes: 5),
  ]

  private enum Step: CaseIterable {
    case loginAnn, loginBob, leaveAnn, leaveBob, background, foreground, use, tick, lock
    case authenticate, authenticateLate, wait
  }

  /// A machine with the time around it, and what an observer without its state knows.
  private struct Story {
    var machine: LockMachine
    var users: [UserAccountIdentity: LockPolicy] = [:]
    var minutes = 0
    var isVisible = true
    /// The lock before the present one.
    var formerNumber = 0
    /// When the person last was in the app; nil for never.
    var lastSeen: Int?
    var steps: [Step] = []

    var time: Duration { .seconds(60 * minutes) }
    /// Whether the person was away for longer than each user's org allows.
    var isOverdue: Bool {
      guard let limit = users.values.map(\.timeoutMinutes).min() else { return false }
      return lastSeen.map { minutes - $0 > limit } ?? true
    }

    mutating func take(_ step: Step) {
      steps.append(step)
      let before = machine
      let wasOverdue = isOverdue
      let wasVisible = isVisible
      var action = LockMachine.Action.none
      switch step {
      case .loginAnn, .loginBob:
        let user = step == .loginAnn ? LockMachineTests.ann : LockMachineTests.bob
        users[user] = LockMachineTests.policies[user]
        action = machine.handle(.login(users))
      case .leaveAnn, .leaveBob:
        users[step == .leaveAnn ? LockMachineTests.ann : LockMachineTests.bob] = nil
        action = machine.handle(.users(users))
      case .background:
        isVisible = false
        action = machine.handle(.enterBackground(at: time))
      case .foreground:
        isVisible = true
        action = machine.handle(.enterForeground(at: time))
      case .use: action = machine.handle(.interaction(at: time))
      case .tick: action = machine.handle(.tick(at: time))
      case .lock: action = machine.handle(.lock)
      case .authenticate:
        action = machine.handle(.authenticated(number: machine.number, at: time))
      case .authenticateLate:
        action = machine.handle(.authenticated(number: formerNumber, at: time))
      case .wait: minutes += 3
      }
      if machine.number != before.number { formerNumber = before.number }
      check(step, before, action, wasOverdue: wasOverdue, wasVisible: wasVisible)
      let isUse = step == .foreground || step == .use || step == .background && wasVisible
      if !machine.isLocked, isUse || step == .authenticate && before.isLocked {
        lastSeen = minutes
      }
    }

    private func check(
      _ step: Step, _ before: LockMachine, _ action: LockMachine.Action, wasOverdue: Bool,
      wasVisible: Bool
    ) {
      let expected: LockMachine.Action =
        before.isLocked == machine.isLocked ? .none : machine.isLocked ? .lock : .unlock
      var failures: [String] = []
      if action != expected { failures.append("the action is \(action)") }
      if users.isEmpty, machine.isLocked { failures.append("locked without a policy") }
      let measures = machine.countsInactivity || !wasVisible
      let mustLock: Bool
      switch step {
      case .loginAnn, .loginBob: mustLock = true
      case .lock: mustLock = !users.isEmpty
      case .foreground: mustLock = wasOverdue
      case .use, .tick: mustLock = wasOverdue && measures
      default: mustLock = false
      }
      let mayUnlock = users.isEmpty || step == .authenticate
      if mustLock, !machine.isLocked { failures.append("not locked") }
      if !mustLock, !before.isLocked, machine.isLocked { failures.append("locked for no reason") }
      if before.isLocked, !machine.isLocked, !mayUnlock { failures.append("unlocked") }
      if before.isLocked, mayUnlock, machine.isLocked { failures.append("still locked") }
      if !failures.isEmpty { Issue.record("\(failures) by the last of \(steps)") }
    }
  }

  @Test(.covers("CO-155", "CO-159"), arguments: [false, true])
  func `over all short histories an app is locked exactly when its policies say so`(
    countsInactivity: Bool
  ) {
    var stories = 0
    func tell(_ story: Story, _ rest: Int) {
      guard rest > 0 else { return stories += 1 }
      for step in Step.allCases {
        var next = story
        next.take(step)
        tell(next, rest - 1)
      }
    }
    tell(Story(machine: LockMachine(countsInactivity: countsInactivity)), 5)
    #expect(stories == 248_832)
  }

  @Test(.covers("CO-155")) func `an app starts locked unless its last use is known to be recent`() {
    let minute = Duration.seconds(60)
    let cases: [(Duration?, Bool)] = [
      (nil, true), (minute * 10, false), (minute * 8, false), (minute * 8 - .seconds(1), true),
    ]
    for (lastUse, isLocked) in cases {
      var machine = LockMachine(lastUse: lastUse)
      let action = machine.start(Self.policies, at: minute * 10)
      #expect(machine.isLocked == isLocked && action == (isLocked ? .lock : .none))
    }
    var machine = LockMachine()
    let action = machine.start([:], at: minute)
    #expect(action == .none && !machine.isLocked)
  }

  @Test(.covers("CO-155")) func `a time that lies back does not shorten or extend the wait`() {
    var machine = LockMachine(lastUse: .seconds(600))
    _ = machine.start(Self.policies, at: .seconds(600))
    _ = machine.handle(.enterBackground(at: .seconds(300)))
    #expect(machine.lastUse == .seconds(600))
    let early = machine.handle(.enterForeground(at: .seconds(720)))
    let late = machine.handle(.enterForeground(at: .seconds(841)))
    #expect(early == .none && late == .lock)
  }

  @Test(.covers("CO-155")) func `a stricter policy of a user who is here locks the app`() {
    var machine = LockMachine(lastUse: .zero)
    _ = machine.start([Self.bob: LockPolicy(timeoutMinutes: 5)], at: .zero)
    let same = machine.handle(.users([Self.bob: LockPolicy(timeoutMinutes: 5)]))
    let stricter = machine.handle(.users([Self.bob: LockPolicy(timeoutMinutes: 1)]))
    #expect(same == .none && stricter == .lock)
  }
}
