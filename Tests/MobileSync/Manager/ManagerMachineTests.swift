import Testing

@testable import MobileSync
import TestSupport

@Suite struct ManagerMachineTests {
  private func code(_ body: () throws -> Void) -> SyncError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SyncError)?.code
    }
  }

  @Test(.covers("MS-16"))
  func `the states have the platform's texts`() {
    #expect(ManagerMachine.State.accepting.rawValue == "accepting_syncs")
    #expect(ManagerMachine.State.stopRequested.rawValue == "stop_requested")
    #expect(ManagerMachine.State.stopped.rawValue == "stopped")
  }

  @Test(.covers("MS-53"))
  func `stop with nothing active stops at once, else with the last operation`() throws {
    var machine = ManagerMachine()
    machine.stop()
    #expect(machine.state == .stopped)
    machine = ManagerMachine()
    try machine.submit(1)
    try machine.submit(2)
    machine.stop()
    #expect(machine.state == .stopRequested)
    machine.leave(1)
    #expect(machine.state == .stopRequested)
    machine.leave(2)
    #expect(machine.state == .stopped)
  }

  @Test(.covers("MS-56"))
  func `operations are refused while stopping and stopped`() throws {
    var machine = ManagerMachine()
    try machine.submit(1)
    machine.stop()
    var refused = code { try machine.submit(2) }
    #expect(refused == .managerStopped)
    machine.leave(1)
    refused = code { try machine.submit(2) }
    #expect(refused == .managerStopped)
  }

  @Test(.covers("MS-57"))
  func `restart is allowed in stopping and stopped only`() throws {
    var machine = ManagerMachine()
    let refused = code { try machine.restart() }
    #expect(refused == .cannotRestart)
    try machine.submit(1)
    machine.stop()
    try machine.restart()
    #expect(machine.state == .accepting)
    machine.leave(1)
    #expect(machine.state == .accepting)
    machine.stop()
    try machine.restart()
    #expect(machine.state == .accepting)
  }

  @Test(.covers("MS-41", "MS-58"))
  func `an active sync is not started twice, also after a restart`() throws {
    var machine = ManagerMachine()
    try machine.submit(1)
    var refused = code { try machine.submit(1) }
    #expect(refused == .alreadyRunning)
    machine.stop()
    try machine.restart()
    refused = code { try machine.submit(1) }
    #expect(refused == .alreadyRunning)
    machine.leave(1)
    try machine.submit(1)
  }

  /// Every sequence of seven calls over two syncs keeps the rules.
  @Test(.covers("MS-53", "MS-54", "MS-55", "MS-56", "MS-57", "MS-58"))
  func `the rules hold after every sequence of calls`() {
    enum Call: CaseIterable { case submit1, submit2, leave1, leave2, stop, restart }
    func walk(_ machine: ManagerMachine, _ depth: Int) {
      #expect((machine.state == .stopped) ? machine.active.isEmpty : true)
      #expect((machine.state == .stopRequested) ? !machine.active.isEmpty : true)
      if depth == 0 { return }
      for call in Call.allCases {
        var next = machine
        switch call {
        case .submit1, .submit2:
          let id: Int64 = call == .submit1 ? 1 : 2
          let refused = code { try next.submit(id) } != nil
          #expect(refused == (machine.state != .accepting || machine.active.contains(id)))
          if refused { #expect(next == machine) }
        case .leave1: next.leave(1)
        case .leave2: next.leave(2)
        case .stop:
          next.stop()
          #expect(next.state != .accepting)
        case .restart:
          let refused = code { try next.restart() } != nil
          #expect(refused == (machine.state == .accepting))
          #expect(next.state == .accepting)
        }
        if next != machine { walk(next, depth - 1) }
      }
    }
    walk(ManagerMachine(), 7)
  }
}
