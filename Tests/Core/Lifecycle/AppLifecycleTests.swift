import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

/// Who hears that the app goes to the background, and in which order?
@Suite struct AppLifecycleTests {
  private final class Recorder: Sendable {
    let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private struct Part: LifecycleObserver {
    let name: String
    let recorder: Recorder
    func didEnterBackground() async { recorder.add("\(name) out") }
    func willEnterForeground() async { recorder.add("\(name) in") }
  }

  @Test(.covers("CO-14.5", "CO-15"))
  func `the screen is hidden first and shown last, and the others follow in their order`() async {
    let recorder = Recorder()
    let lifecycle = AppLifecycle(screen: Part(name: "screen", recorder: recorder))
    await lifecycle.add(Part(name: "lock", recorder: recorder))
    await lifecycle.add(Part(name: "events", recorder: recorder))
    await lifecycle.didEnterBackground()
    #expect(await lifecycle.phase == .background)
    await lifecycle.willEnterForeground()
    #expect(await lifecycle.phase == .foreground)
    #expect(
      recorder.lines.withLock { $0 } == [
        "screen out", "lock out", "events out", "lock in", "events in", "screen in",
      ])
  }

  @Test(.covers("CO-14.5"))
  func `a repeated signal does nothing, and signals at once are handled one after the other`() async
  {
    let recorder = Recorder()
    let lifecycle = AppLifecycle()
    await lifecycle.add(Part(name: "a", recorder: recorder))
    await lifecycle.add(Part(name: "b", recorder: recorder))
    await lifecycle.willEnterForeground()
    await withTaskGroup { group in
      for index in 0..<20 {
        group.addTask {
          if index.isMultiple(of: 2) {
            await lifecycle.didEnterBackground()
          } else {
            await lifecycle.willEnterForeground()
          }
        }
      }
    }
    let lines = recorder.lines.withLock { $0 }
    #expect(!lines.isEmpty && lines.count.isMultiple(of: 2))
    for (index, line) in lines.enumerated() {
      let way = (index / 2).isMultiple(of: 2) ? "out" : "in"
      #expect(line == (index.isMultiple(of: 2) ? "a \(way)" : "b \(way)"))
    }
  }
}
