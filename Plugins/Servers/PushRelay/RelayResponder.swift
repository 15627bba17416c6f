import HTTPTypes
import Hummingbird
import LocalServer
import SalesforcePush
import SalesforceSDKCommon
import Synchronization

/// Responds to the requests of a relay: one path, one method, one token.
struct RelayResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  static let path = "/push"

  let token: String
  let service: PushService
  let receiver: PushReceiver
  let onFailure: @Sendable (PushError) -> Void
  private let port = Port()

  init(
    token: String, service: PushService, receiver: PushReceiver,
    onFailure: @escaping @Sendable (PushError) -> Void
  ) {
    self.token = token
    self.service = service
    self.receiver = receiver
    self.onFailure = onFailure
  }

  func listen(on number: Int) { port.number.store(number, ordering: .relaxed) }

  func respond(to request: Request, context: Context) async throws -> Response {
    // A page elsewhere may point a name of its own at this machine: the host tells, and a page's request has an origin.
    let number = port.number.load(ordering: .relaxed)
    guard request.head.namesOneHost, request.head.authority == "127.0.0.1:\(number)" else {
      return Self.status(.misdirectedRequest)
    }
    guard request.headers[.origin] == nil else { return Self.status(.forbidden) }
    guard isAllowed(request) else { return Self.status(.unauthorized) }
    guard request.uri.path == Self.path, request.uri.query == nil else {
      return Self.status(.notFound)
    }
    guard request.method == .post else { return Self.status(.methodNotAllowed) }
    guard let body = try? await request.body.collect(upTo: PushRelay.maxPayloadBytes) else {
      return Self.status(.contentTooLarge)
    }
    guard let json = try? JSONSlice(parsing: Array(body.readableBytesView)),
      let payload = json.value.object
    else { return Self.status(.badRequest) }
    do throws(PushError) {
      try await receiver.receive(payload, from: service, source: .relayed)
    } catch {
      onFailure(error)
    }
    return Self.status(.accepted)
  }

  /// Whether the request shows the token; comparing takes as long for any.
  private func isAllowed(_ request: Request) -> Bool {
    (request.headers[.authorization] ?? "").isEqual(toSecret: "Bearer \(token)")
  }

  private static func status(_ status: HTTPResponse.Status) -> Response {
    Response(status: status, headers: [.cacheControl: "no-store", .connection: "close"])
  }

  /// The port that the system gave, known once the server listens.
  private final class Port: Sendable {
    let number = Atomic(0)
  }
}
