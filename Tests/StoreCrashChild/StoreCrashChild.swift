import Foundation
import SmartStore
import StoreCrashScript

/// A process that writes to a store until it is killed:
/// `StoreCrashChild FOLDER SEED FIRST-STEP KEY-NUMBER`, or, to write together with others,
/// `StoreCrashChild share FOLDER NAME SEED`, and `StoreCrashChild hang FOLDER` to stop in a transaction.
///
/// Prints `ready`, then the number of each step once its call has returned.
@main
struct StoreCrashChild {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count > 2, ["share", "hang"].contains(arguments[1]) {
      do {
        try await share(arguments)
      } catch let error as SmartStoreError {
        say("\(error.code)")
        exit(1)
      }
    }
    guard arguments.count == 5, let seed = UInt64(arguments[2]), let first = Int(arguments[3]),
      let key = Int(arguments[4])
    else {
      FileHandle.standardError.write(Data("wrong arguments\n".utf8))
      exit(2)
    }
    let script = CrashScript(seed: seed)
    var writer = CrashWriter(folder: URL(filePath: arguments[1]), script: script, key: key)
    writer.checkpointInterval = CrashWriter.shortInterval
    try await writer.open()
    say("ready")
    for step in first... {
      try await writer.run(script.action(step), step: step)
      say("\(step)")
    }
  }

  private static func share(_ arguments: [String]) async throws {
    let store = try await SharedWriter.open(URL(filePath: arguments[2]))
    say("ready")
    if arguments[1] == "hang" {
      try await SharedWriter.pause(in: store) {
        say("stopped")
        raise(SIGSTOP)
      }
    }
    let writer = SharedWriter(name: arguments[3], seed: UInt64(arguments[4]) ?? 0)
    for step in 0... {
      try await writer.run(step, in: store)
      say("\(step)")
    }
  }

  /// Past any buffer, in one piece: what was said before the end is read after it.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
