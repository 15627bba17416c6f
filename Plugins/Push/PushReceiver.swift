public import SalesforceSDKCommon

/// A notification that has arrived, decrypted.
public struct PushNotification: Sendable, Equatable {
  /// The source of a notification.
  public struct Source: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case polled, relayed }
    private let kind: Kind
    /// The server's list of notifications, which was requested.
    public static let polled = Source(kind: .polled)
    /// A companion that forwarded a payload of a push service.
    public static let relayed = Source(kind: .relayed)

    /// The name of the source.
    public var description: String { kind.rawValue }
  }

  /// The server's payload, with the content decrypted.
  public let payload: JSONObject
  /// Whether the program was in the foreground; false if the user opened it from the notification.
  public let isForeground: Bool
  /// The source of the notification.
  public let source: Source

  /// The payload with `payload` and `foreground` next to its members, the form that pages of hybrid
  /// apps expect (HT-13).
  public var hybridMessage: JSONObject {
    var message = payload
    message["payload"] = .object(payload)
    message["foreground"] = .bool(isForeground)
    return message
  }
}

/// The receiver of notifications from all sources.
public struct PushReceiver: Sendable {
  private let decoder: PushDecoder
  private let deliver: @Sendable (PushNotification) async -> Void

  /// Delivers notifications to `deliver`, which is awaited, so that notifications of one source arrive in order.
  public init(
    decoder: PushDecoder, deliver: @escaping @Sendable (PushNotification) async -> Void
  ) {
    self.decoder = decoder
    self.deliver = deliver
  }

  /// Decrypts a payload and delivers it.
  ///
  /// - Throws: ``PushError`` as ``PushDecoder/decode(_:from:)``; then nothing was delivered.
  public func receive(
    _ payload: JSONObject, from service: PushService = .apple, isForeground: Bool = true,
    source: PushNotification.Source = .relayed
  ) async throws(PushError) {
    let decoded = try decoder.decode(payload, from: service)
    await deliver(PushNotification(payload: decoded, isForeground: isForeground, source: source))
  }
}
