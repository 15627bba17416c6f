import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// One step of a composite request.
///
/// Its address and body may refer to the response of an earlier step: `@{refAccount.id}`.
public struct CompositeSubrequest: Sendable, Equatable {
  /// The name of the step, unique within its request.
  public var referenceId: String
  /// The request of the step.
  public var request: RestRequest

  /// Creates a step.
  public init(referenceId: String, _ request: RestRequest) {
    self.referenceId = referenceId
    self.request = request
  }
}

/// A record of a tree, with the records below it.
public struct TreeRecord: Sendable, Equatable {
  /// The records below one relationship, such as `Contacts`.
  public struct Children: Sendable, Equatable {
    /// The relationship's name, which is the plural name in the object's description.
    public var relationship: String
    /// The records, in order.
    public var records: [TreeRecord]

    /// Creates a group of children.
    public init(_ relationship: String, _ records: [TreeRecord]) {
      self.relationship = relationship
      self.records = records
    }
  }

  /// The object's name.
  public var object: String
  /// The name of the record within the tree, by which the response refers to it.
  public var referenceId: String
  /// The fields.
  public var fields: RestFields
  /// The child records, to any depth; the server accepts five levels and 200 records in total.
  public var children: [Children]

  /// Creates a record.
  public init(
    object: String, referenceId: String, fields: RestFields, children: [Children] = []
  ) {
    self.object = object
    self.referenceId = referenceId
    self.fields = fields
    self.children = children
  }
}

// The factories of CO-132.
extension RestRequest {
  /// The maximum number of requests in one batch.
  public static let maxBatchRequests = 25
  /// The maximum number of steps in one composite request.
  public static let maxCompositeSteps = 25

  /// Runs up to 25 steps in order; each may use the responses of earlier steps.
  /// ``CompositeResponse`` reads the response, which is 200 even if a step failed.
  ///
  /// - Parameter allOrNone: Whether the failure of one step undoes all steps.
  /// - Parameter apiVersion: The version for this request and for steps without one; pass the
  ///   client's.
  /// - Throws: ``RestError`` `tooManyRecords`; `invalidRequest` if two steps share a reference id, or
  ///   a body is not JSON.
  public static func composite(
    _ steps: [CompositeSubrequest], allOrNone: Bool = false,
    apiVersion: String = defaultAPIVersion
  ) throws(RestError) -> RestRequest {
    guard steps.count <= maxCompositeSteps else {
      throw RestError(
        .tooManyRecords,
        "A composite request takes \(maxCompositeSteps) steps, not \(steps.count). Split it.")
    }
    var names: Set<String> = []
    for step in steps where !names.insert(step.referenceId).inserted {
      throw RestError(
        .invalidRequest, "The reference id \(step.referenceId) stands twice in a composite request."
      )
    }
    var body = JSONWriter()
    body.beginObject()
    body.key("allOrNone")
    body.bool(allOrNone)
    body.key("compositeRequest")
    body.beginArray()
    for step in steps {
      body.beginObject()
      body.text("referenceId", step.referenceId)
      body.text("method", step.request.method.rawValue)
      body.text("url", restoringReferences(in: step.request.target(apiVersion: apiVersion), names))
      if step.request.method.takesBody { try body.body(of: step.request, as: "body") }
      let headers = step.request.headers.filter { $0.name != .contentType }
      if !headers.isEmpty {
        body.key("httpHeaders")
        body.beginObject()
        for field in headers { body.text(field.name.rawName, field.value) }
        body.endObject()
      }
      body.endObject()
    }
    body.endArray()
    body.endObject()
    return RestRequest(method: .post, path: "\(root(apiVersion))/composite").with(json: body.bytes)
  }

  /// Runs up to 25 requests that do not depend on each other. ``BatchResponse`` reads the response.
  ///
  /// - Parameter haltOnError: Whether a failure skips the remaining requests.
  /// - Parameter apiVersion: Of this request and of requests that name none; pass the client's.
  /// - Throws: ``RestError`` `tooManyRecords`; `invalidRequest` if a body is not JSON.
  public static func compositeBatch(
    _ requests: [RestRequest], haltOnError: Bool = false, apiVersion: String = defaultAPIVersion
  ) throws(RestError) -> RestRequest {
    guard requests.count <= maxBatchRequests else {
      throw RestError(
        .tooManyRecords,
        "A batch takes \(maxBatchRequests) requests, not \(requests.count). Split it.")
    }
    var body = JSONWriter()
    body.beginObject()
    body.key("haltOnError")
    body.bool(haltOnError)
    body.key("batchRequests")
    body.beginArray()
    for request in requests {
      let target = request.target(apiVersion: apiVersion)
      body.beginObject()
      body.text("method", request.method.rawValue)
      // Relative to the endpoint, without a slash before the version.
      let relative = target.dropping(prefix: "\(defaultEndpoint)/").map(String.init) ?? target
      body.text("url", relative)
      if request.method.takesBody { try body.body(of: request, as: "richInput") }
      body.endObject()
    }
    body.endArray()
    body.endObject()
    return RestRequest(method: .post, path: "\(root(apiVersion))/composite/batch")
      .with(json: body.bytes)
  }

  /// Creates records with the records below them, all of them or none.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if a root is of another object, or two records share
  ///   a reference id.
  public static func sObjectTree(
    object: String, _ records: [TreeRecord], apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    guard records.allSatisfy({ $0.object == object }) else {
      throw RestError(.invalidRequest, "The roots of a tree of \(object) must all be \(object).")
    }
    var names: Set<String> = []
    var body: [UInt8] = []
    try append(records, to: &body, &names)
    let path = "\(root(apiVersion))/composite/tree/\(PercentEncoding.encode(object))"
    return RestRequest(method: .post, path: path).with(json: body)
  }

  private static func append(
    _ records: [TreeRecord], to body: inout [UInt8], _ names: inout Set<String>
  ) throws(RestError) {
    body.append(contentsOf: Array(#"{"records":["#.utf8))
    for (index, record) in records.enumerated() {
      guard names.insert(record.referenceId).inserted else {
        throw RestError(
          .invalidRequest, "The reference id \(record.referenceId) stands twice in a tree.")
      }
      if index > 0 { body.append(UInt8(ascii: ",")) }
      var attributes = JSONWriter()
      attributes.beginObject()
      attributes.text("type", record.object)
      attributes.text("referenceId", record.referenceId)
      attributes.endObject()
      record.fields.append(attributes: attributes.bytes, to: &body)
      for group in merged(record.children) {
        // The record's closing brace makes room for the group.
        body.removeLast()
        body.append(UInt8(ascii: ","))
        var key = JSONWriter()
        key.string(group.relationship)
        body.append(contentsOf: key.bytes)
        body.append(UInt8(ascii: ":"))
        try append(group.records, to: &body, &names)
        body.append(UInt8(ascii: "}"))
      }
    }
    body.append(contentsOf: Array("]}".utf8))
  }

  /// Groups of the same relationship become one, at the place of the first.
  private static func merged(_ groups: [TreeRecord.Children]) -> [TreeRecord.Children] {
    var result: [TreeRecord.Children] = []
    for group in groups {
      if let index = result.firstIndex(where: { $0.relationship == group.relationship }) {
        result[index].records += group.records
      } else {
        result.append(group)
      }
    }
    return result
  }

  /// Restores references to steps of this request after encoding: `%40%7Bref.id%7D` becomes
  /// `@{ref.id}` if `ref` is the name of a step.
  private static func restoringReferences(in url: String, _ names: Set<String>) -> String {
    let start = "%40%7B", end = "%7D"
    var pieces = url.components(separatedBy: start)[...]
    var result = pieces.popFirst() ?? ""
    for piece in pieces {
      if let close = piece.range(of: end) {
        let reference = PercentEncoding.decode(piece[..<close.lowerBound])
        if names.contains(String(reference.prefix { $0 != "." && $0 != "[" })) {
          result += "@{\(reference)}" + piece[close.upperBound...]
          continue
        }
      }
      result += start + piece
    }
    return result
  }
}

extension HTTPRequest.Method {
  /// Whether a step of that method carries a body.
  fileprivate var takesBody: Bool { self == .post || self == .patch || self == .put }
}

extension JSONWriter {
  /// Writes a member whose value is a string.
  mutating func text(_ key: String, _ value: String) {
    self.key(key)
    string(value)
  }

  /// Writes a request's body as a member, if it has one.
  fileprivate mutating func body(of request: RestRequest, as key: String) throws(RestError) {
    guard request.upload == nil else {
      throw RestError(
        .invalidRequest, "The body of \(request) is a file and cannot be part of another request.")
    }
    guard let body = request.body, !body.isEmpty else { return }
    let json: JSONSlice
    do throws(JSONError) {
      json = try JSONSlice(parsing: body)
    } catch {
      throw RestError(
        .invalidRequest, "The body of \(request) is not JSON and cannot be part of another.",
        cause: error)
    }
    self.key(key)
    raw(json)
  }
}
