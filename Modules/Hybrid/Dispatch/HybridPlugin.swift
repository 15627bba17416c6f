public import SalesforceSDKCommon

/// A service that pages call by name, such as `com.salesforce.smartstore` or one of an app's own.
///
/// The bridge gives each call exactly one response: the value that ``respond(to:)`` returns, or its error.
///
/// ```swift
/// struct Greetings: HybridPlugin {
///   let serviceNames = ["com.example.greetings"]
///   func respond(to call: HybridCall) async throws -> HybridValue {
///     guard call.action == "greet" else { throw call.invalidAction() }
///     return HybridValue("Hello \(call.arguments.first?.string ?? "world")")
///   }
/// }
/// ```
public protocol HybridPlugin: Sendable {
  /// The names under which pages call the service. The first is its name, the others are aliases.
  var serviceNames: [String] { get }

  /// Whether the calls of one page are carried out one after another, in the order of their arrival.
  /// Default: false, they run side by side.
  var keepsOrder: Bool { get }

  /// Carries out a call. It runs in a task of its own and may take long; a page that goes away does not
  /// cancel it.
  ///
  /// - Throws: ``HybridError`` to choose what the page's error callback receives, or any other error, of
  ///   which it receives the message.
  func respond(to call: HybridCall) async throws -> HybridValue

  /// Releases what the plug-in keeps for a session. Called once, after the last call of the session.
  func sessionDidEnd(_ session: HybridSession.ID) async
}

extension HybridPlugin {
  /// The calls run side by side.
  public var keepsOrder: Bool { false }
  /// Nothing is kept for a session.
  public func sessionDidEnd(_ session: HybridSession.ID) async {}
}

/// A call of a page, as a plug-in receives it.
public struct HybridCall: Sendable {
  /// The name by which the page called the plug-in, possibly an alias.
  public let service: String
  /// What is to be done.
  public let action: String
  /// The arguments as the page wrote them, without the version prefix.
  public let arguments: [JSONSlice]
  /// The page's connection.
  public let session: HybridSession.ID
  /// The names of all plug-ins of the bridge, without aliases, in the order of registration.
  public let pluginNames: [String]
  /// The longest value that a response can hold, in bytes.
  public let maxValueBytes: Int

  let id: [UInt8]
  let owner: HybridSession
  /// The number of changes of the current user when the call arrived.
  let userNumber: Int

  /// The first argument if it is an object, else an empty object: most services take one object.
  public var message: HybridMessage { HybridMessage(self) }

  /// The same call of another action, for a plug-in that carries out its calls with another one.
  package func renamed(_ action: String) -> HybridCall {
    HybridCall(
      service: service, action: action, arguments: arguments, session: session,
      pluginNames: pluginNames, maxValueBytes: maxValueBytes, id: id, owner: owner,
      userNumber: userNumber)
  }

  /// Sends a part of the result before the response. The page's success callback is called with each.
  public func report(_ value: HybridValue) async {
    await owner.deliver(HybridResponse.text(id: id, .pending, value))
  }

  /// Runs `work` after the response was sent, for what follows the call, such as events. It is cancelled
  /// when the bridge is closed, not when the page goes away.
  public func afterResponse(_ work: @escaping @Sendable (HybridSession) async -> Void) {
    owner.follow(id, work)
  }

  /// The error for an action that the service does not have.
  public func invalidAction() -> HybridError {
    HybridError(.invalidAction, "invalid action: service \(service) has no action \(action).")
  }
}
