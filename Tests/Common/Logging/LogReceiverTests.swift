import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCommon

/// Implementations and receivers of the program's own. The suite is serial: what it sets is there for
/// the whole process, so its factories look at the components of this file alone.
@Suite(.serialized) struct LogReceiverTests {
  private final class Kept: LogImplementation, LogReceiver {
    let componentName: String
    private let state = Mutex((level: LogLevel.off, lines: [String]()))
    let onReceive: @Sendable (LogRecord) -> Void

    init(_ name: String, onReceive: @escaping @Sendable (LogRecord) -> Void = { _ in }) {
      componentName = name
      self.onReceive = onReceive
    }

    var lines: [String] { state.withLock { $0.lines } }

    var level: LogLevel {
      get { state.withLock { $0.level } }
      set { state.withLock { $0.level = newValue } }
    }

    func log(_ record: LogRecord) {
      state.withLock {
        $0.lines.append("\(record.level) \(record.component) \(record.tag ?? "-") \(record.text)")
      }
    }

    func receive(_ record: LogRecord) {
      log(record)
      onReceive(record)
    }
  }

  @Test(.covers("CA-13", "BX-100"))
  func `a program's own implementation serves the loggers that are made after it`() {
    let before = SalesforceLogger.logger(forComponent: "LogReceiverTests.before")
    let made = Mutex<[String: Kept]>([:])
    SalesforceLogger.setImplementation { component in
      guard component.hasPrefix("LogReceiverTests") else { return Backend(component) }
      let kept = Kept(component)
      made.withLock { $0[component] = kept }
      return kept
    }
    defer { SalesforceLogger.setImplementation(nil) }
    let after = SalesforceLogger.logger(forComponent: "LogReceiverTests.after")
    before.level = .off
    before.info("x")
    #expect(made.withLock { $0.keys.sorted() } == ["LogReceiverTests.after"])
    let kept = made.withLock { $0["LogReceiverTests.after"] }
    #expect(kept?.level == after.level)
    after.level = .warn
    #expect(kept?.level == .warn)
    after.info("not written")
    after.error("sid=1234567890", tag: "Tag", error: SecretStoreError(.locked, "a\nb"))
    #expect(
      kept?.lines == [#"error LogReceiverTests.after Tag sid=******7890: locked: a\nb"#])
  }

  @Test(.covers("CA-8.2"))
  func `flushing forgets the loggers, and those in use go on`() {
    let registry = LogRegistry(environment: "")
    let made = Mutex<[String]>([])
    registry.setImplementation { component in
      made.withLock { $0.append(component) }
      return Kept(component)
    }
    let before = registry.logger("a")
    #expect(registry.logger("a") === before && registry.components == ["a"])
    registry.flush()
    #expect(registry.components.isEmpty)
    let after = registry.logger("a")
    #expect(after !== before && registry.components == ["a"])
    #expect(made.withLock { $0 } == ["a", "a"])
    before.level = .warn
    before.error("still there")
    #expect(before.isEnabled(.error))
  }

  @Test(.covers("CA-20.4"))
  func `a person's name is masked in release builds`() {
    #expect(Redaction.personName("Jane Doe", isRelease: true) == "*****")
    #expect(Redaction.personName("Jane Doe", isRelease: false) == "Jane Doe")
    #if DEBUG
      #expect(Redaction.personName("Jane Doe") == "Jane Doe")
    #else
      #expect(Redaction.personName("Jane Doe") == "*****")
    #endif
  }

  @Test(.covers("CA-14", "BX-100"))
  func `a receiver per component gets what passes the level, and not its own records`()
    async throws
  {
    try await Turns.logging.run {
      let made = Mutex<[Kept]>([])
      let spawned = Mutex<[Task<Void, Never>]>([])
      SalesforceLogger.setReceivers { component in
        let logger = SalesforceLogger(
          component: component, level: .verbose, implementation: Kept(component))
        let receiver = Kept(component) { record in
          guard record.component.hasPrefix("LogReceiverTests") else { return }
          logger.error("from inside")
          let task = Task { logger.error("from a task") }
          spawned.withLock { $0.append(task) }
        }
        made.withLock { $0.append(receiver) }
        return receiver
      }
      defer { SalesforceLogger.setReceivers(nil) }
      let kept = Kept("LogReceiverTests.one")
      let one = SalesforceLogger(
        component: "LogReceiverTests.one", level: .warn, implementation: kept)
      let other = SalesforceLogger(
        component: "LogReceiverTests.other", level: .warn,
        implementation: Kept("LogReceiverTests.other"))
      one.info("not written")
      one.warning("a", tag: "T")
      one.warning("b", error: SecretStoreError(.locked, "why"))
      other.error("c")
      for task in spawned.withLock({ $0 }) { await task.value }
      let receivers = made.withLock { $0 }.filter { $0.componentName.hasPrefix("LogReceiverTests") }
      #expect(
        receivers.map(\.lines) == [
          ["warn LogReceiverTests.one T a", "warn LogReceiverTests.one - b: locked: why"],
          ["error LogReceiverTests.other - c"],
        ])
      #expect(kept.lines == receivers.first?.lines)
    }
  }
}
