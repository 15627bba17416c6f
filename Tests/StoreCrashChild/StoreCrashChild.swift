import Foundation
import StoreCrashScript

/// A process that writes to a store until it is killed:
/// `StoreCrashChild FOLDER SEED FIRST-STEP KEY-NUMBER`.
///
/// Prints `ready`, then the number of each step once its call has returned.
@main
struct StoreCrashChild {
  static func main() async throws {
    let arguments = CommandLine.arguments
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

  /// Past any buffer, in one piece: what was said before the end is read after it.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
