import SalesforceSDKCommon

// Past events, and the stream of new events.
extension InspectorResources {
  static let recordRoutes: [InspectorRoute] = [
    (
      "GET", "requests",
      { me, call, _ in
        try call.parameters.check("search", "limit", "after", "before")
        return .json(.object(try me.recent(.requests, as: "requests", call) { _ in true }))
      }
    ),
    ("GET", "logs", { me, call, _ in .json(try me.logs(call)) }),
    ("POST", "logs/levels", { me, call, _ in .json(try await me.setLevel(call)) }),
    (
      "GET", "analytics",
      { me, call, _ in
        try call.parameters.check("search", "limit", "after", "before")
        return .json(.object(try me.recent(.analytics, as: "events", call) { _ in true }))
      }
    ),
    (
      "GET", "events",
      { me, call, _ in
        try call.parameters.check("topics")
        let topics = call.parameters["topics"]?.split(separator: ",").map(String.init)
        guard topics?.allSatisfy(InspectorHub.topics.contains) != false else {
          throw InspectorFailure(
            "invalidRequest",
            "The topics are some of \(InspectorHub.topics.joined(separator: ", ")).")
        }
        let stream = try me.hub.open(
          topics: Set(topics ?? InspectorHub.topics), lastEventId: call.lastEventId)
        me.watch.start(me)
        return .events(stream)
      }
    ),
  ]

  /// A page of a list of the recorder, the newest first.
  private func recent(
    _ list: InspectorRecorder.List, as name: String, _ call: InspectorCall,
    _ isWanted: (JSONValue) -> Bool
  ) throws(InspectorFailure) -> JSONObject {
    let search = call.parameters["search"]?.lowercased()
    let items = (app.recorder?.items(list) ?? []).filter { item in
      isWanted(item) && (search.map { item.text.lowercased().contains($0) } ?? true)
    }
    let page = try ListPage(
      items, call.parameters, "\(list) \(search ?? "")", limits: limits
    ) { "\($0["sequence"]?.int64 ?? 0)" }
    var document = page.cursors
    document[name] = .array(page.items)
    return document
  }

  private func logs(_ call: InspectorCall) throws(InspectorFailure) -> JSONValue {
    try call.parameters.check("search", "level", "component", "limit", "after", "before")
    let names = LogLevel.allCases.map(\.description)
    let least = try call.parameters.word("level", of: names).flatMap { LogLevel($0) } ?? .verbose
    let component = call.parameters["component"]
    var document = try recent(.logs, as: "records", call) { record in
      let level = record["level"]?.string.flatMap { LogLevel($0) } ?? .fault
      return level >= least && (component == nil || record["component"]?.string == component)
    }
    document["levels"] = levels
    document["components"] = .array(SalesforceLogger.components.map { .string($0) })
    return .object(document)
  }

  /// The level of each component.
  private var levels: JSONValue {
    .object(
      JSONObject(
        SalesforceLogger.components.map { name in
          (name, .string(SalesforceLogger.logger(forComponent: name).level.description))
        }))
  }

  private func setLevel(_ call: InspectorCall) async throws -> JSONValue {
    let body = try await call.body()
    guard let component = body["component"]?.string,
      SalesforceLogger.components.contains(component),
      let level = body["level"]?.string.flatMap({ LogLevel($0) })
    else {
      throw InspectorFailure("invalidRequest", "Give a component and a level of the list.")
    }
    SalesforceLogger.logger(forComponent: component).level = level
    return ["levels": levels]
  }
}
