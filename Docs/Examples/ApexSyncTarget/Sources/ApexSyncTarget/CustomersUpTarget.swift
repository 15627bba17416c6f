public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// Sends changed customers, up to 50 with a request.
///
/// JSON: `{"iOSImpl": "CustomersUpTarget", "createFieldlist": […], "updateFieldlist": […]}`, the lists
/// optional.
///
/// Each new customer carries its local id as a key. When a response is lost, the target asks the endpoint which
/// keys it has seen, so that nothing is made twice.
public struct CustomersUpTarget: SyncUpTarget, UnacknowledgedCreateFinding, Equatable {
  public static let kind = SyncTargetKind(
    .syncUp, typeName: "customersUp", implementationName: "CustomersUpTarget",
    writtenTypeName: "custom")

  public let fields: SyncUpFields

  /// Makes a target.
  public init(fields: SyncUpFields = SyncUpFields()) {
    self.fields = fields
  }

  public init(configuration: JSONObject) throws {
    fields = try SyncUpFields(configuration: configuration)
  }

  public var configuration: JSONObject {
    var configuration = JSONObject()
    fields.write(into: &configuration)
    return configuration
  }

  public var maxBatchSize: Int { 50 }

  public func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    let request = CustomersEndpoint.post("", Self.changes(group))
    let json = try await context.json(for: request)
    guard let results = json["results"], results.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of results")
    }
    return results.elements.map { result in
      switch result["status"]?.string {
      case "done": .succeeded(id: result["id"]?.string)
      case "gone": .gone(result["error"]?.value ?? .null)
      case "refused": .rejected(result["error"]?.value ?? .null)
      default: .unanswered
      }
    }
  }

  /// `{"changes": [{"kind": "update", "id": "001…", "fields": {…}}]}`, the fields straight from the
  /// stored texts.
  private static func changes(_ group: [SyncUpRecord]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("changes")
    writer.beginArray()
    for record in group {
      writer.beginObject()
      writer.key("kind")
      writer.string(record.action.rawValue)
      writer.key(record.action == .create ? "key" : "id")
      writer.string(record.id ?? "")
      if record.action != .delete {
        writer.key("fields")
        writer.beginObject()
        for (name, value) in record.values {
          writer.key(name)
          writer.raw(value)
        }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  public func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    let ids = records.map { $0.id ?? "" }
    let json = try await customers(at: "/dates", CustomersEndpoint.list("ids", ids), in: context)
    return ids.map { id in
      guard let date = json[id]?.string else { return .gone }
      return SalesforceDate.parse(date).map { .modified($0.milliseconds) } ?? .unknown
    }
  }

  public func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]] {
    let keys = lost.map { $0.record.id ?? "" }
    let json = try await customers(at: "/made", CustomersEndpoint.list("keys", keys), in: context)
    return keys.map { key in json[key]?.string.map { [$0] } ?? [] }
  }

  /// A response of the form `{key: value, …}`, with the keys of the request. Any other must not pass for
  /// "there is none": a customer would be taken for gone, or be made twice.
  private func customers(
    at path: String, _ body: [UInt8], in context: SyncContext
  ) async throws -> JSONSlice {
    let request = CustomersEndpoint.post(path, body)
    let json = try await context.json(for: request)
    guard json.kind == .object else {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "an object with a value for each key")
    }
    return json
  }
}
