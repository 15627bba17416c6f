/// `/services/data/vXX.0`: the resources of a version.
struct ResourceListResource: Resource {
  let call: RESTCall

  func list() -> OrgResponse {
    let names = [
      "actions", "appMenu", "chatter", "compactLayouts", "composite", "connect", "jobs", "limits",
      "parameterizedSearch", "process", "query", "queryAll", "quickActions", "recent", "search",
      "sobjects", "tabs", "theme", "ui-api",
    ]
    var urls: ResponseJSON = .object(names.map { ($0, .string(url($0))) })
    urls.append(["identity": .string(call.service.identityURL)])
    return .json(urls)
  }
}
