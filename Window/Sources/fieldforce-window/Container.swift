import CWindow
import Foundation

/// The window: shows what the bridge decides, and reports to it what pages do.
///
/// Used on the main thread alone.
final class Container: @unchecked Sendable {
  private let options: Options
  private var bridge: Bridge?
  private var window: OpaquePointer?
  private let folder: URL
  private let password = UUID().uuidString + UUID().uuidString
  private var relayPort: Int32 = 0
  private var profile: String?
  private var status: Int32 = 0

  init(_ options: Options) throws {
    self.options = options
    // Only this user can enter it, and so reach the socket in it.
    folder = FileManager.default.temporaryDirectory.appending(
      path: "fieldforce-window-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Shows the window until the user closes it or the bridge ends.
  ///
  /// - Returns: The status with which the program ends.
  func run() throws -> Int32 {
    defer { try? FileManager.default.removeItem(at: folder) }
    let socket = folder.appending(path: "bridge").path
    let arguments = ["hybrid", "serve", "--window", socket] + options.passedOn
    let bridge = try Bridge(try options.executable(), arguments) { [self] in begin(socket) }
    bridge.onEvent = { [self] name, detail in handle(name, detail) }
    bridge.onEnd = { [self] status in
      if self.status == 0 { self.status = status }
      ff_stop()
    }
    self.bridge = bridge
    if options.isDriven { drive() }
    ff_run()
    return status
  }

  // MARK: The start

  private func begin(_ socket: String) {
    guard let certificate = bridge?.info["certificate"] as? String else {
      return fail(
        "The program \(options.program) offers no window. Install the version that belongs to this one."
      )
    }
    var problem: UnsafeMutablePointer<CChar>?
    relayPort = ff_relay_start(socket, certificate, password, &problem)
    if relayPort == 0 {
      return fail(
        "The window cannot listen on this machine: \(problem.map { String(cString: $0) } ?? "").")
    }
    let events = ff_events(
      context: Unmanaged.passUnretained(self).toOpaque(),
      navigate: { context, decision, url, isUserGesture in
        Container.at(context).navigate(decision, String(cString: url), isUserGesture)
      },
      loaded: { context, url in
        Container.at(context).bridge?.call("loaded", ["url": String(cString: url)])
      },
      failed: { context, url, message in
        let (url, message) = (String(cString: url), String(cString: message))
        let container = Container.at(context)
        container.bridge?.call("failed", ["url": url, "message": message]) { container.follow($0) }
      },
      closed: { context in Container.at(context).bridge?.stop() })
    window = ff_window_new(
      "Fieldforce", Int32(options.width), Int32(options.height), options.fillsScreen, events)
    start()
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> Container {
    guard let context else { preconditionFailure("The window reports without its context.") }
    // The container outlives the loop in which it is called.
    return Unmanaged<Container>.fromOpaque(context).takeUnretainedValue()
  }

  /// Requests the first page and shows it, in the profile of its user.
  private func start() {
    bridge?.call("start") { [self] value in
      guard let window, let url = value["url"] as? String,
        let profile = value["profile"] as? String,
        let userAgent = value["userAgent"] as? String,
        let certificate = bridge?.info["certificate"] as? String
      else { return fail(value["error"] as? String ?? "The app cannot be started.") }
      let folder = profileFolder(profile)
      try? FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      guard
        ff_window_begin(
          window, folder.path, userAgent, certificate,
          "socks5://window:\(password)@127.0.0.1:\(relayPort)",
          options.isInspectable)
      else { return fail("The certificate of \(options.program) cannot be read.") }
      self.profile = profile
      setCookies(value["cookies"]) { ff_window_load(window, url) }
    }
  }

  private func profileFolder(_ profile: String) -> URL {
    // Only letters and digits, and a hyphen: the name comes from ids of the server.
    let name = profile.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    return stateFolder.appending(path: "window").appending(path: "profile-\(name)")
  }

  private var stateFolder: URL {
    if let index = options.passedOn.firstIndex(of: "--state") {
      return URL(filePath: options.passedOn[index + 1])
    }
    let environment = ProcessInfo.processInfo.environment
    if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
      return URL(filePath: base).appending(path: "fieldforce")
    }
    return URL.homeDirectory.appending(path: ".local/state/fieldforce")
  }

  private func fail(_ text: String) {
    FileHandle.standardError.write(Data("error: \(text)\n".utf8))
    status = 1
    bridge?.stop()
  }

  // MARK: What pages do

  private func navigate(_ decision: OpaquePointer, _ url: String, _ isUserGesture: Bool) {
    nonisolated(unsafe) let decision = decision
    bridge?.call("navigate", ["url": url, "isUserGesture": isUserGesture]) { [self] value in
      ff_decision_finish(decision, value["action"] as? String == "allow")
      follow(value)
    }
  }

  /// Loads the page that a decision names.
  private func follow(_ value: Bridge.Message) {
    guard value["action"] as? String == "load", let window, let url = value["url"] as? String else {
      return
    }
    let cookies = value["cookies"] as? [Bridge.Message] ?? []
    guard !cookies.isEmpty else { return ff_window_load(window, url) }
    setCookies(cookies) { ff_window_load(window, url) }
  }

  private func handle(_ event: String, _ detail: Bridge.Message) {
    switch event {
    case "fieldforceCookies":
      setCookies(detail["cookies"]) { [self] in
        bridge?.call("cookiesSet", ["number": detail["number"] ?? 0])
      }
    case "fieldforceReload":
      guard let window, let removed = detail["removedProfile"] as? String else { return start() }
      let folder = profileFolder(removed)
      guard removed == profile else {
        try? FileManager.default.removeItem(at: folder)
        return start()
      }
      ff_window_clear(
        window, MainThread.done,
        MainThread.context { [self] in
          try? FileManager.default.removeItem(at: folder)
          start()
        })
    default: break
    }
  }

  private func setCookies(_ value: Any?, then: @escaping () -> Void) {
    guard let window else { return }
    let messages = value as? [Bridge.Message] ?? []
    var texts: [UnsafeMutablePointer<CChar>?] = []
    func text(_ message: Bridge.Message, _ key: String) -> UnsafePointer<CChar>? {
      texts.append(strdup(message[key] as? String ?? ""))
      return UnsafePointer(texts[texts.count - 1])
    }
    let cookies = messages.compactMap { message -> ff_cookie? in
      guard let name = text(message, "name"), let value = text(message, "value"),
        let host = text(message, "host")
      else { return nil }
      return ff_cookie(
        name: name, value: value, host: host, is_secure: message["isSecure"] as? Bool ?? true,
        includes_subdomains: message["includesSubdomains"] as? Bool ?? false)
    }
    ff_window_set_cookies(window, cookies, cookies.count, MainThread.done, MainThread.context(then))
    for text in texts { free(text) }
  }

  // MARK: Tests

  private func drive() {
    let thread = Thread { [self] in
      readLines(of: .standardInput) { line in MainThread.run { [self] in carryOut(line) } }
      MainThread.run { [self] in bridge?.stop() }
    }
    thread.start()
  }

  private func carryOut(_ line: Data) {
    guard let command = try? JSONSerialization.jsonObject(with: line) as? Bridge.Message,
      let id = command["id"] as? Int
    else { return }
    guard let window, profile != nil else { return respond(id, nil, "There is no page yet.") }
    let context = Unmanaged.passRetained(Command(id)).toOpaque()
    let done: ff_result = { context, text, error in
      guard let context else { return }
      let command = Unmanaged<Command>.fromOpaque(context).takeRetainedValue()
      respond(command.id, text.map { String(cString: $0) }, error.map { String(cString: $0) })
    }
    if let body = command["evaluate"] as? String {
      ff_window_evaluate(window, body, done, context)
    } else if let file = command["picture"] as? String {
      ff_window_picture(window, file, done, context)
    } else {
      done(context, nil, "The command is unknown.")
    }
  }
}

private final class Command {
  let id: Int
  init(_ id: Int) { self.id = id }
}

/// Prints the result of a command of ``Options/isDriven``.
private func respond(_ id: Int, _ json: String?, _ error: String?) {
  var line: Bridge.Message = ["id": id]
  if let error { line["error"] = error }
  if let json,
    let value = try? JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
  {
    line["value"] = value
  }
  guard let data = try? JSONSerialization.data(withJSONObject: line) else { return }
  FileHandle.standardOutput.write(data + Data("\n".utf8))
}
