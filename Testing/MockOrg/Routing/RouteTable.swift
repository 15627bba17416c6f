/// A path of an API, and what handles each of its methods. `GET` serves `HEAD` too.
struct Route<Service, Handler: Sendable>: Sendable {
  let path: [PathSegment<Service>]
  /// By method, in capitals.
  let handlers: [String: Handler]

  init(path: [PathSegment<Service>], handlers: [String: Handler]) {
    self.path = path
    self.handlers = handlers
  }
}

/// The paths of an API, found in the steps of a request's path.
///
/// A word of the API is never a value: `sobjects/Account/describe` is no record with the id `describe`. Between values,
/// the order of the routes decides. Routes with the same path are one.
struct RouteTable<Service, Handler: Sendable>: Sendable {
  struct Match {
    let handler: Handler
    let values: PathValues
  }

  /// Where a request's path has led so far.
  private struct Step: Sendable {
    var words: [String: Step] = [:]
    var wordsInAnyCase: [String: Step] = [:]
    var values: [ValueStep] = []
    var handlers: [String: Handler] = [:]

    /// The handlers of the route that has the rest of a path; nil if none has.
    func route(
      of path: ArraySlice<String>, _ values: PathValues, _ service: Service
    ) -> (handlers: [String: Handler], values: PathValues)? {
      guard let first = path.first else { return handlers.isEmpty ? nil : (handlers, values) }
      let rest = path.dropFirst()
      if let step = words[first] { return step.route(of: rest, values, service) }
      if !wordsInAnyCase.isEmpty, let step = wordsInAnyCase[first.lowercased()] {
        return step.route(of: rest, values, service)
      }
      for value in self.values where value.accepts(first, values, service) {
        let values = values.adding(value.name, first)
        if let route = value.step.route(of: rest, values, service) { return route }
      }
      return nil
    }
  }

  private struct ValueStep: Sendable {
    let name: String
    let accepts: @Sendable (String, PathValues, Service) -> Bool
    var step = Step()
  }

  private var root = Step()

  init(_ routes: [Route<Service, Handler>]) {
    for route in routes { Self.insert(route.path[...], route.handlers, into: &root) }
  }

  private static func insert(
    _ path: ArraySlice<PathSegment<Service>>, _ handlers: [String: Handler], into step: inout Step
  ) {
    guard let first = path.first else {
      step.handlers.merge(handlers) { _, _ in
        preconditionFailure("two routes have the same path and method")
      }
      return
    }
    switch first.kind {
    case .word(let word):
      insert(path.dropFirst(), handlers, into: &step.words[word, default: Step()])
    case .wordInAnyCase(let word):
      insert(path.dropFirst(), handlers, into: &step.wordsInAnyCase[word, default: Step()])
    case .value(let name, let accepts):
      let known = step.values.firstIndex { $0.name == name }
      if known == nil { step.values.append(ValueStep(name: name, accepts: accepts)) }
      insert(path.dropFirst(), handlers, into: &step.values[known ?? step.values.count - 1].step)
    }
  }

  /// What handles a request.
  ///
  /// - Throws: ``ServerError`` `NOT_FOUND` for a path of no route, `METHOD_NOT_ALLOWED` for one whose route lacks the
  ///   method.
  func match(
    _ method: String, _ path: [String], in service: Service
  ) throws(ServerError) -> Match {
    guard let (handlers, values) = root.route(of: path[...], PathValues(), service) else {
      throw .notFound()
    }
    if let handler = handlers[method == "HEAD" ? "GET" : method] {
      return Match(handler: handler, values: values)
    }
    let methods = handlers.keys + (handlers["GET"] == nil ? [] : ["HEAD"])
    throw .methodNotAllowed(method, allowed: methods.sorted().joined(separator: ","))
  }
}
