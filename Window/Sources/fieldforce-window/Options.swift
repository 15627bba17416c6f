import Foundation

/// The arguments of the program.
struct Options {
  var www: String?
  var program = "fieldforce"
  var width = 1024
  var height = 768
  var fillsScreen = false
  var isInspectable = false
  var isDriven = false
  /// What is passed on to `fieldforce hybrid serve`.
  var passedOn: [String] = []

  static let usage = "Usage: fieldforce-window [<www>] [options]. See 'fieldforce-window --help'."

  static let help = """
    USAGE: fieldforce-window [<www>] [options]

    Show an app written in JavaScript in a window of its own: the pages of a folder, or pages of the org that the
    folder's bootconfig.json names. The window starts 'fieldforce hybrid serve' and ends with it.

      <www>                    The folder of the app's pages and its bootconfig.json.
      --state <dir>            The folder of accounts, keys and stores, as for 'fieldforce'.
      --plaintext              Use a state folder whose stores are plain text.
      --login-url <url>        Where a page logs in.
      --app-name <text>        The app's name. Default: from config.xml or package.json of the app.
      --app-version <text>     The app's version.
      --fieldforce <program>   The program 'fieldforce'. Default: the one beside this program, else on the PATH.
      --size <width>x<height>  The size of the window. Default: 1024x768.
      --fullscreen             Fill the screen, as a kiosk.
      --inspect                Offer the engine's developer tools in the page's menu.
      --drive                  Carry out commands of standard input, for tests: {"id", "evaluate"} runs the body of an
                               async function in the page, {"id", "picture"} writes a PNG.
      --help                   Show this help.
    """

  /// - Throws: `Usage` with a sentence for the user.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Usage("Give a value after \(option).") }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--state", "--login-url", "--app-name", "--app-version":
        passedOn += [argument, try value(of: argument)]
      case "--plaintext": passedOn.append(argument)
      case "--fieldforce": program = try value(of: argument)
      case "--size":
        let text = try value(of: argument)
        let numbers = text.split(separator: "x").map { Int($0) ?? 0 }
        guard numbers.count == 2, numbers.allSatisfy({ (1...32_767).contains($0) }) else {
          throw Usage("\(text) is no size. Give width and height, such as 1024x768.")
        }
        (width, height) = (numbers[0], numbers[1])
      case "--fullscreen": fillsScreen = true
      case "--inspect": isInspectable = true
      case "--drive": isDriven = true
      case "--help", "-h": throw Usage(Self.help, isHelp: true)
      default:
        guard !argument.hasPrefix("-") else { throw Usage("There is no option \(argument).") }
        guard www == nil else { throw Usage("Give one folder: \(argument) is the second.") }
        www = argument
      }
    }
    if let www { passedOn += ["--www", www] }
  }

  /// The program to start: a path, one beside this program, or one of the PATH.
  ///
  /// - Throws: `Usage` if there is none.
  func executable() throws -> URL {
    let manager = FileManager.default
    if program.contains("/") {
      guard manager.isExecutableFile(atPath: program) else {
        throw Usage("There is no program \(program). Correct the path after --fieldforce.")
      }
      return URL(filePath: program)
    }
    let own = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
    let folders =
      [own]
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    for folder in folders where manager.isExecutableFile(atPath: "\(folder)/\(program)") {
      return URL(filePath: "\(folder)/\(program)")
    }
    throw Usage("The program \(program) is not on the PATH. Name it with --fieldforce.")
  }
}

/// Arguments that cannot be used, or a request for help.
struct Usage: Error {
  let text: String
  let isHelp: Bool

  init(_ text: String, isHelp: Bool = false) {
    self.text = text
    self.isHelp = isHelp
  }
}
