import Foundation
import StoreCrashScript

#if os(Linux)
  import FaultyFiles

  /// Moves stores of an older format and writes down what reaches the disk: `move FOLDER LOG`. The folder holds
  /// the stores of ``FormatOneStores``; each is noted by its number when it was moved.
  enum FormatMove {
    static func main(_ arguments: [String]) async {
      guard arguments.count == 2 else { exit(2) }
      faulty_files_record(arguments[0], arguments[1])
      do {
        let stores = FormatOneStores(in: URL(filePath: arguments[0]))
        for (number, store) in FormatOneStores.all.enumerated() {
          try await stores.move(store)
          faulty_files_note("\(number)")
        }
      } catch {
        StoreFaultChild.say("wrong \(error)")
      }
      faulty_files_disarm()
    }
  }
#endif
