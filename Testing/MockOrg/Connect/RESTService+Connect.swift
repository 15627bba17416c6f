import SalesforceSDKCommon

/// The Connect API, `/connect` and its older name `/chatter`: files, notifications, the briefcase and analytics.
extension RESTService {
  func connect(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    // A community has files and users of its own; here they are those of the org.
    if path.first == "communities", path.count > 2 {
      return try connect(request, Array(path.dropFirst(2)))
    }
    let rest = Array(path.dropFirst())
    switch (path.first, rest.first) {
    case ("briefcase", "priming-records") where rest.count == 1:
      try request.allow("GET,HEAD")
      return try primingRecords(request)
    case ("proxy", "app-analytics-logging") where rest.count == 1:
      return try acceptAnalytics(request)
    case ("notifications", _): return try notifications(request, rest)
    case ("files", _): return try files(request, rest)
    case ("user-profiles", _) where rest.count == 2 && rest[1] == "photo":
      return try profilePhoto(request, userID: rest[0])
    default: throw ServerError.notFound()
    }
  }

  /// The id of a user whom a path names, by id or as `me`.
  func connectUser(_ text: String) throws(ServerError) -> String {
    if text.lowercased() == "me" { return transaction.userID }
    guard let id = RecordID.normalized(text), id.hasPrefix("005") else { throw .notFound() }
    return id
  }

  /// `?page=N&pageSize=N`, pages counted from 0.
  func page(of request: OrgRequest) throws(ServerError) -> (number: Int, size: Int) {
    func number(_ name: String, _ usual: Int) throws(ServerError) -> Int {
      guard let text = request[query: name] else { return usual }
      guard let number = Int(text), number >= 0 else {
        throw ServerError("ILLEGAL_QUERY_PARAMETER_VALUE", "\(text) is no value of \(name).")
      }
      // No list is as long; what is worked out from it stays within the range.
      return min(number, Int(Int32.max))
    }
    let page = try number("page", 0)
    return (page, min(max(1, try number("pageSize", 25)), 100))
  }

  private func profilePhoto(_ request: OrgRequest, userID: String) throws -> OrgResponse {
    try request.allow("GET,HEAD,POST")
    let id = try connectUser(userID)
    if request.method == "POST" {
      let parts = try Multipart.parts(of: request)
      guard parts.contains(where: { $0.name == "fileUpload" }) else {
        throw ServerError("MISSING_ARGUMENT", "The part fileUpload is missing.")
      }
    }
    return .json(request.method == "POST" ? 201 : 200) { writer in
      writer.beginObject()
      for (key, value) in [
        ("fullEmailPhotoUrl", "/profilephoto/\(id)/F"), ("largePhotoUrl", "/profilephoto/\(id)/F"),
        ("photoVersionId", ""), ("smallPhotoUrl", "/profilephoto/\(id)/T"),
        ("standardEmailPhotoUrl", "/profilephoto/\(id)/T"),
        ("url", "\(transaction.versionPath)/connect/user-profiles/\(id)/photo"),
      ] {
        writer.key(key)
        writer.string(orNull: value.isEmpty ? nil : value)
      }
      writer.endObject()
    }
  }
}
