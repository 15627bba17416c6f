public import Foundation
public import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// The service for a window with a web engine: it decides what the window shows and whether its
/// pages may navigate (HT-2, HT-15 to HT-18, HT-22).
///
/// It contains no engine: a window connects its own session to the bridge, passes it to
/// ``attach(_:)``, and calls the service `fieldforce.container`. Sessions of pages cannot call it.
///
/// | action | argument | value |
/// | --- | --- | --- |
/// | `start` | | `{url, cookies, userAgent, profile}`: what to show, at the start and after each event `fieldforceReload` |
/// | `navigate` | `{url, isUserGesture}` | `{action}`, and with action `load` a `url` and `cookies`; else `allow` or `cancel` |
/// | `loaded` | `{url}` | |
/// | `failed` | `{url, message}` | as `navigate` |
/// | `cookiesSet` | `{number}` | |
///
/// The event `fieldforceCookies` with `{number, cookies}` brings new cookies; the window sets them and calls `cookiesSet`.
/// The event `fieldforceReload` may name a `removedProfile`, whose data the window removes.
public final class HybridContainer: HybridPlugin {
  /// The start of an app.
  public struct App: Sendable {
    /// Whether the pages are part of the app. Default: true.
    public var isLocal = true
    /// The first page: of the app's folder, or of the org, relative to its address. Default: `index.html`.
    public var startPage = "index.html"
    /// The page of the app's folder that is shown for errors. Default: the container's own.
    public var errorPage: String?
    /// The first page before a login, of an app whose pages are on the server.
    public var unauthenticatedStartPage: URL?
    /// Whether a login is needed before the first page. Default: true.
    public var logsInAtStart = true
    /// Whether an app whose pages are on the server shows cached pages when there is no network.
    /// Default: true.
    public var attemptsOfflineLoad = true
    /// The problem of the boot configuration, for which the app shows the error page. Default:
    /// none.
    public var problem: String?

    /// An app whose folder has an `index.html`.
    public init() {}

    /// Reads the members of a boot configuration; nil if the app has none, and then needs no login.
    public init(bootConfiguration members: JSONObject?) {
      guard let members else {
        logsInAtStart = false
        return
      }
      do throws(BootConfigurationError) {
        let boot = try BootConfiguration(members)
        isLocal = boot.isLocal ?? true
        startPage = boot.startPage ?? startPage
        errorPage = boot.errorPage
        unauthenticatedStartPage = boot.unauthenticatedStartPage.flatMap { URL(string: $0) }
        logsInAtStart = boot.shouldAuthenticate
        attemptsOfflineLoad = boot.attemptsOfflineLoad
      } catch {
        problem = error.description
        errorPage = members["errorPage"]?.string
      }
    }
  }

  /// The service of the window.
  public static let service = "fieldforce.container"
  /// The address of the container's own error page. The text after `#` is the reason.
  public static let errorAddress = "https://localhost/_error"
  /// The address that restarts the app, as the error page's button does.
  public static let restartAddress = "https://localhost/_start"

  public let serviceNames = [HybridContainer.service]
  /// The origins whose pages are shown.
  public let origins: AllowedOrigins

  let host: HybridHost
  let app: App
  let openOutside: @Sendable (URL) async -> Void
  let homeFile: URL
  let state = Mutex(State())

  struct State {
    var window: HybridSession.ID?
    /// The current user's own servers, whose pages are shown as well.
    var servers = AllowedOrigins.standard
    var base: URL?
    var loginPages: [URL]?
    /// The number of session renewals for a page that has not loaded since.
    var renewals: [String: Int] = [:]
    var renewal: Task<Renewal, Never>?
    var knowsHome = false
    var lastNumber: Int64 = 0
    var waiting: [Int64: CheckedContinuation<Void, Never>] = [:]
  }

  /// Creates a container.
  ///
  /// - Parameters:
  ///   - origins: The origins whose pages are shown, in addition to the servers of the current
  ///     user.
  ///   - homeFile: Stores the address of the app's home page (HT-16).
  ///   - openOutside: Shows a page of another origin in the system's browser.
  public init(
    host: HybridHost, app: App, origins: AllowedOrigins = .standard, homeFile: URL,
    openOutside: @escaping @Sendable (URL) async -> Void
  ) {
    self.host = host
    self.app = app
    self.origins = origins
    self.homeFile = homeFile
    self.openOutside = openOutside
    state.withLock { $0.servers = origins }
  }

  /// Whether pages of an origin may call the bridge.
  public func admits(origin: String) -> Bool {
    state.withLock { $0.servers }.admits(origin: origin)
  }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    guard state.withLock({ $0.window }) == call.session else {
      throw HybridError(.invalidAction, "invalid action: there is no service \(call.service).")
    }
    switch call.action {
    case "start":
      return HybridValue(.object(try await start(call)))
    case "navigate":
      let isUserGesture = try call.message.flag("isUserGesture")
      return HybridValue(.object(try await navigate(try url(call), isUserGesture, call).json))
    case "loaded":
      didLoad(try url(call))
      return .none
    case "failed":
      return HybridValue(.object(didFail(try url(call), try call.message.text("message")).json))
    case "cookiesSet":
      didSetCookies(try call.message.integer("number") ?? 0)
      return .none
    default:
      throw call.invalidAction()
    }
  }

  private func url(_ call: HybridCall) throws -> URL {
    guard let url = URL(string: try call.message.requiredText("url")) else {
      throw call.message.invalid("url", "an address")
    }
    return url
  }
}
