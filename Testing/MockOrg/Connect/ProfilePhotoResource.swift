/// `/connect/user-profiles/ID/photo`.
struct ProfilePhotoResource: Resource {
  let call: RESTCall

  func retrieve() throws -> OrgResponse { .json(try photo()) }

  func upload() throws -> OrgResponse {
    let photo = try photo()
    let parts = try Multipart.parts(of: request)
    guard parts.contains(where: { $0.name == "fileUpload" }) else {
      throw ServerError("MISSING_ARGUMENT", "The part fileUpload is missing.")
    }
    return .json(photo, status: 201)
  }

  private func photo() throws(ServerError) -> ResponseJSON {
    let id = try connectUser()
    return [
      "fullEmailPhotoUrl": "/profilephoto/\(id)/F", "largePhotoUrl": "/profilephoto/\(id)/F",
      "photoVersionId": nil, "smallPhotoUrl": "/profilephoto/\(id)/T",
      "standardEmailPhotoUrl": "/profilephoto/\(id)/T",
      "url": .string(url("connect/user-profiles/\(id)/photo")),
    ]
  }
}

/// What the resources of the Connect API share.
extension Resource {
  /// The id of the user whom the path names, by id or as `me`.
  func connectUser() throws(ServerError) -> String {
    let text = call["user"]
    if text.lowercased() == "me" { return transaction.userID }
    guard let id = RecordID.normalized(text), id.hasPrefix("005") else { throw .notFound() }
    return id
  }

  /// `?page=N&pageSize=N`, pages counted from 0.
  func connectPage() throws(ServerError) -> (number: Int, size: Int) {
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
}
