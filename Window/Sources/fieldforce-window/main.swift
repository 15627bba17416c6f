import CWindow
import Foundation

// The bridge may end while a line is written to it.
signal(SIGPIPE, SIG_IGN)

do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  guard ff_start() else {
    throw Usage("There is no display. Start the program in a desktop session, or under xvfb-run.")
  }
  exit(try Container(options).run())
} catch let usage as Usage {
  let stream = usage.isHelp ? FileHandle.standardOutput : FileHandle.standardError
  stream.write(
    Data(
      (usage.isHelp ? usage.text : "error: \(usage.text)\n\(Options.usage)").utf8 + Data("\n".utf8))
  )
  exit(usage.isHelp ? 0 : 64)
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
