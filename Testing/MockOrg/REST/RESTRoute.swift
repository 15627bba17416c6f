typealias RESTRoute = Route<RESTService, RESTHandler>
typealias RESTHandler = @Sendable (RESTCall) throws -> OrgResponse

extension Route where Service == RESTService, Handler == RESTHandler {
  /// A path, and the functions of a resource that handle its methods.
  ///
  /// - Parameters:
  ///   - since: The first version of the API that has the path.
  ///   - isDescription: The response changes with the org's schema alone, and a client that has it already gets 304.
  init<R: Resource>(
    _ path: PathSegment<RESTService>..., since: Int = 0, isDescription: Bool = false,
    get: (@Sendable (R) -> () throws -> OrgResponse)? = nil,
    post: (@Sendable (R) -> () throws -> OrgResponse)? = nil,
    put: (@Sendable (R) -> () throws -> OrgResponse)? = nil,
    patch: (@Sendable (R) -> () throws -> OrgResponse)? = nil,
    delete: (@Sendable (R) -> () throws -> OrgResponse)? = nil
  ) {
    let methods = ["GET": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": delete]
    let handlers = methods.compactMapValues { function -> RESTHandler? in
      guard let function else { return nil }
      return { call in
        guard call.service.transaction.apiVersion >= since else { throw ServerError.notFound() }
        guard isDescription else { return try function(R(call: call))() }
        return try call.described { try function(R(call: call))() }
      }
    }
    self.init(path: path, handlers: handlers)
  }
}

extension PathSegment where Service == RESTService {
  /// The name of an object that the org knows.
  static var object: PathSegment {
    .value("object") { name, _, service in
      service.transaction.schema.object(named: name) != nil
    }
  }

  /// The id of a record; a name of one of the object's fields is none, even if it looks like one.
  static var record: PathSegment {
    .value("record") { text, values, service in
      RecordID.normalized(text) != nil && service.object(in: values)?.field(named: text) == nil
    }
  }

  /// The name of a relationship to a parent.
  static var parent: PathSegment {
    .value("parent") { name, values, service in
      service.object(in: values)?.parentField(relationshipName: name) != nil
    }
  }

  /// The name of a field that keeps a file.
  static var blob: PathSegment {
    .value("blob") { name, values, service in
      service.object(in: values)?.field(named: name)?.type == .base64
    }
  }
}

extension RESTService {
  /// The object that a path names.
  fileprivate func object(in values: PathValues) -> ObjectSchema? {
    transaction.schema.object(named: values["object"])
  }
}
