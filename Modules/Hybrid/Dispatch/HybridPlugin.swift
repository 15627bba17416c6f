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

  /// Whether the calls of one page run one after another, in the order of their arrival. Default:
  /// false, they run concurrently.
  var keepsOrder: Bool { get }

  /// Executes a call. It runs in a separate task and may take long; closing the page does not
  /// cancel it.
  ///
  /// - Throws: ``HybridError`` to choose the value that the page's error callback receives. For any
  ///   other error, the callback receives the message.
  func respond(to call: HybridCall) async throws -> HybridValue

  /// Releases the plug-in's state of a session. Called once, after the last call of the session.
  func sessionDidEnd(_ session: HybridSession.ID) async
}

extension HybridPlugin {
  /// False: the calls run concurrently.
  public var keepsOrder: Bool { false }
  /// Does nothing.
  public func sessionDidEnd(_ session: HybridSession.ID) async {}
}

/// A call of a page, as a plug-in receives it.
public struct HybridCall: Sendable {
  /// The name by which the page called the plug-in, possibly an alias.
  public let service: String
  /// The requested action.
  public let action: String
  /// The arguments as the page wrote them, without the version prefix.
  public let arguments: [JSONSlice]
  /// The page's connection.
  public let session: HybridSession.ID
  /// The names of all plug-ins of the bridge, without aliases, in the order of registration.
  public let pluginNames: [String]
  /// The maximum length of a response's value, in bytes.
  public let maxValueBytes: Int

  let id: [UInt8]
  let owner: HybridSession
  /// The number of changes of the current user when the call arrived.
  let userNumber: Int

  /// The first argument if it is an object, otherwise an empty object. Most services take one
  /// object.
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

  /// Runs `work` after the response was sent, for example to send events. It is cancelled when the
  /// bridge is closed, not when the page is closed.
  public func afterResponse(_ work: @escaping @Sendable (HybridSession) async -> Void) {
    owner.follow(id, work)
  }

  /// Returns the error for an action that the service does not have.
  public func invalidAction() -> HybridError {
    HybridError(.invalidAction, "invalid action: service \(service) has no action \(action).")
  }
}
