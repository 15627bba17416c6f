import Foundation
import StoreCrashScript

#if os(Linux)
  import FaultyFiles

  /// A process whose files fail: `StoreFaultChild FOLDER SEED KIND FORM ERRNO NUMBER…`.
  ///
  /// For each number it runs one session in a folder of that name, in which this operation of the kind
  /// fails once, and tells what happened as ``FaultSession`` says. `StoreFaultChild keys …` changes keys
  /// and encryption, as ``KeySession`` says, `StoreFaultChild full …` alters soups on a full disk, as
  /// ``FullSession`` says. `StoreFaultChild record …` writes down what reaches the disk, and `StoreFaultChild
  /// move …` does so while stores of an older format are moved, as ``FormatMove`` says.
  @main
  struct StoreFaultChild {
    static func main() async {
      let arguments = CommandLine.arguments.dropFirst()
      if arguments.first == "keys" {
        await KeySession.main(Array(arguments.dropFirst()))
        return
      }
      if arguments.first == "record" {
        await record(Array(arguments.dropFirst()))
        return
      }
      if arguments.first == "move" {
        await FormatMove.main(Array(arguments.dropFirst()))
        return
      }
      if arguments.first == "full" {
        await FullSession.main(Array(arguments.dropFirst()))
        return
      }
      let numbers = arguments.dropFirst(2).compactMap { Int($0) }
      guard let folder = arguments.first, numbers.count == arguments.count - 2, numbers.count > 3,
        let seed = arguments.dropFirst().first.flatMap({ UInt64($0) })
      else {
        FileHandle.standardError.write(Data("wrong arguments\n".utf8))
        exit(2)
      }
      for number in numbers[3...] {
        let store = folder + "/\(number)"
        say("begin \(number)")
        faulty_files_arm(
          store, FaultyFilesKind(UInt32(numbers[0])), FaultyFilesForm(UInt32(numbers[1])),
          Int32(numbers[2]), number)
        var session = FaultSession(
          folder: URL(filePath: store), script: CrashScript(seed: seed))
        await session.run()
        faulty_files_disarm()
        let seen = (0...FaultyFilesExamine.rawValue).map { kind in
          "\(faulty_files_seen(FaultyFilesKind(kind)))"
        }
        let failed = faulty_files_failed().map { path in
          "/" + String(cString: path).dropFirst(store.count + 1)
        }
        say("end \(seen.joined(separator: ",")) \(failed ?? "-")")
      }
    }

    /// Runs one session in which nothing fails, and writes down what reaches the disk: `record FOLDER SEED
    /// LOG`. The store is in a folder in that one.
    private static func record(_ arguments: [String]) async {
      guard arguments.count == 3, let seed = UInt64(arguments[1]) else { exit(2) }
      faulty_files_record(arguments[0], arguments[2])
      var session = FaultSession(
        folder: URL(filePath: arguments[0]).appending(path: "store"),
        script: CrashScript(seed: seed))
      await session.run()
      faulty_files_disarm()
    }

    /// Past any buffer, in one piece: what was said before the end is read after it.
    static func say(_ line: String) {
      FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
  }
#else
  /// Only there do the calls of a program take the place of the system's for its libraries.
  @main
  struct StoreFaultChild {
    static func main() {}
  }
#endif
