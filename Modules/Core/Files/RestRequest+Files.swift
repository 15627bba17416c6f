import HTTPTypes
import SalesforceSDKCommon

/// A picture or another form of a file that the server creates.
public struct FileRendition: Sendable, Hashable {
  /// The value that is sent.
  public let rawValue: String

  /// Creates a form that is not listed here.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The file as a PDF.
  public static let pdf = FileRendition(rawValue: "PDF")
  /// The file as a Flash film.
  public static let flash = FileRendition(rawValue: "FLASH")
  /// The file as slides.
  public static let slide = FileRendition(rawValue: "SLIDE")
  /// A picture of 120 by 90 pixels.
  public static let thumbnail120x90 = FileRendition(rawValue: "THUMB120BY90")
  /// A picture of 240 by 180 pixels.
  public static let thumbnail240x180 = FileRendition(rawValue: "THUMB240BY180")
  /// A picture of 720 by 480 pixels.
  public static let thumbnail720x480 = FileRendition(rawValue: "THUMB720BY480")
}

/// The rights of a user for a shared file.
public struct FileShareType: Sendable, Hashable {
  /// The letter that is sent.
  public let rawValue: String
  /// Look at it.
  public static let viewer = FileShareType(rawValue: "V")
  /// Change it.
  public static let collaborator = FileShareType(rawValue: "C")
}

// The factories of CO-136: files of the platform. Lists come in pages of 25; `nextPageUrl` of a response is
// the path of the next one. `nil` as a user is the user of the token, `nil` as a version the newest one,
// page 0 the first. A community's id puts the request into that community.
//
// This package neither keeps nor encrypts what is downloaded.
extension RestRequest {
  /// The files that a user owns.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if an id is empty or the page negative.
  public static func ownedFilesList(
    userId: String? = nil, page: Int = 0, communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try filesOfUser(userId, "", page, communityId, apiVersion)
  }

  /// The files in the groups of a user.
  ///
  /// - Throws: As ``ownedFilesList(userId:page:communityId:apiVersion:)``.
  public static func filesInUsersGroups(
    userId: String? = nil, page: Int = 0, communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try filesOfUser(userId, "/filter/groups", page, communityId, apiVersion)
  }

  /// The files that others share with a user.
  ///
  /// - Throws: As ``ownedFilesList(userId:page:communityId:apiVersion:)``.
  public static func filesSharedWithUser(
    userId: String? = nil, page: Int = 0, communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try filesOfUser(userId, "/filter/sharedwithme", page, communityId, apiVersion)
  }

  /// The server's information about a file.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if the id is empty or the version below 1.
  public static func fileDetails(
    id: String, version: Int? = nil, communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    connect(
      "/files/\(try segment(id, "file id"))", query: try [versionItem(version)], communityId,
      apiVersion)
  }

  /// The server's information about several files.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if there is no id or one of them is empty.
  public static func batchFileDetails(
    ids: [String], communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    guard !ids.isEmpty else { throw RestError(.invalidRequest, "The list of file ids is empty.") }
    var parts: [String] = []
    for id in ids { parts.append(try segment(id, "file id")) }
    return connect("/files/batch/\(parts.joined(separator: ","))", communityId, apiVersion)
  }

  /// A rendition of a file, as bytes; 404 if the server has none, or not yet.
  ///
  /// - Parameter page: The page, for a form with several pages.
  /// - Throws: ``RestError`` `invalidRequest` if the id or the form's name is empty, the version below 1
  ///   or the page negative.
  public static func fileRendition(
    id: String, version: Int? = nil, rendition: FileRendition = .thumbnail120x90, page: Int = 0,
    communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    guard !rendition.rawValue.isEmpty else {
      throw RestError(.invalidRequest, "The rendition of a file has no name.")
    }
    return connect(
      "/files/\(try segment(id, "file id"))/rendition",
      query: [
        RestQueryItem("type", rendition.rawValue), try pageItem(page), try versionItem(version),
      ],
      communityId, apiVersion)
  }

  /// The bytes of a file; ``RestClient/download(_:to:resumes:maxBytes:progress:)`` writes them to
  /// disk.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if the id is empty or the version below 1.
  public static func fileContents(
    id: String, version: Int? = nil, communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    connect(
      "/files/\(try segment(id, "file id"))/content", query: [try versionItem(version)],
      communityId, apiVersion)
  }

  /// The users, groups and records that a file is shared with.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if the id is empty or the page negative.
  public static func fileShares(
    id: String, page: Int = 0, communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    connect(
      "/files/\(try segment(id, "file id"))/file-shares", query: [try pageItem(page)],
      communityId, apiVersion)
  }

  /// Shares a file with a user, a group or a record.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if an id is empty.
  public static func addFileShare(
    fileId: String, entityId: String, type: FileShareType, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    _ = try (segment(fileId, "file id"), segment(entityId, "entity id"))
    return .create(
      object: "ContentDocumentLink",
      fields: [
        "ContentDocumentId": .string(fileId), "LinkedEntityId": .string(entityId),
        "ShareType": .string(type.rawValue),
      ], apiVersion: apiVersion)
  }

  /// Ends a share.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if the id is empty.
  public static func deleteFileShare(
    shareId: String, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    _ = try segment(shareId, "share id")
    return .delete(object: "ContentDocumentLink", id: shareId, apiVersion: apiVersion)
  }

  /// Creates a file owned by the token's user. The response, 201, describes it.
  ///
  /// - Parameter title: Default: the name.
  /// - Parameter mimeType: Default: `application/octet-stream`.
  public static func uploadFile(
    _ content: UploadBody, name: String, title: String? = nil, description: String? = nil,
    mimeType: String = "application/octet-stream", communityId: String? = nil,
    apiVersion: String? = nil
  ) -> RestRequest {
    uploadFile(
      content, name: name, title: title, description: description, mimeType: mimeType,
      communityId: communityId, apiVersion: apiVersion, form: MultipartBody())
  }

  /// Replaces the picture of a user.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if the id is empty.
  public static func uploadProfilePhoto(
    userId: String, _ picture: UploadBody, name: String, mimeType: String,
    communityId: String? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try uploadProfilePhoto(
      userId: userId, picture, name: name, mimeType: mimeType, communityId: communityId,
      apiVersion: apiVersion, form: MultipartBody())
  }

  /// - Parameter form: Still empty.
  static func uploadFile(
    _ content: UploadBody, name: String, title: String?, description: String?, mimeType: String,
    communityId: String?, apiVersion: String?, form: MultipartBody
  ) -> RestRequest {
    var form = form
    if title != nil || description != nil {
      var json = JSONWriter()
      json.beginObject()
      if let title { json.text("title", title) }
      if let description { json.text("desc", description) }
      json.endObject()
      form.add(
        "json", UploadBody(json.bytes), contentType: "application/json; charset=UTF-8")
    }
    form.add("fileData", content, fileName: name, contentType: mimeType)
    var request = connect("/files/users/me", method: .post, communityId, apiVersion)
    request.setBody(form)
    return request
  }

  /// - Parameter form: Still empty.
  static func uploadProfilePhoto(
    userId: String, _ picture: UploadBody, name: String, mimeType: String, communityId: String?,
    apiVersion: String?, form: MultipartBody
  ) throws(RestError) -> RestRequest {
    var form = form
    form.add("fileUpload", picture, fileName: name, contentType: mimeType)
    var request = connect(
      "/user-profiles/\(try segment(userId, "user id"))/photo", method: .post, communityId,
      apiVersion)
    request.setBody(form)
    return request
  }

  private static func filesOfUser(
    _ userId: String?, _ filter: String, _ page: Int, _ communityId: String?,
    _ apiVersion: String?
  ) throws(RestError) -> RestRequest {
    let user = try userId.map { id throws(RestError) in try segment(id, "user id") } ?? "me"
    return connect(
      "/files/users/\(user)\(filter)", query: [try pageItem(page)], communityId, apiVersion)
  }

  /// Creates a request below `/connect`, for a community or without one.
  private static func connect(
    _ path: String, method: HTTPRequest.Method = .get, query: [RestQueryItem?] = [],
    _ communityId: String?, _ apiVersion: String?
  ) -> RestRequest {
    let community = communityId.map { "/communities/\(PercentEncoding.encode($0))" } ?? ""
    var request = RestRequest(
      method: method, path: "\(root(apiVersion))/connect\(community)\(path)",
      query: query.compactMap(\.self))
    // Texts come as they were typed, not with `&amp;` for `&`.
    request.headers[.entityEncoding] = "false"
    return request
  }

  private static func segment(_ id: String, _ what: String) throws(RestError) -> String {
    guard !id.isEmpty else { throw RestError(.invalidRequest, "The \(what) is empty.") }
    return PercentEncoding.encode(id)
  }

  private static func pageItem(_ page: Int) throws(RestError) -> RestQueryItem? {
    guard page >= 0 else { throw RestError(.invalidRequest, "Page \(page) is below 0.") }
    return page == 0 ? nil : RestQueryItem("page", page)
  }

  private static func versionItem(_ version: Int?) throws(RestError) -> RestQueryItem? {
    guard let version else { return nil }
    guard version >= 1 else { throw RestError(.invalidRequest, "Version \(version) is below 1.") }
    return RestQueryItem("versionNumber", version)
  }
}

extension HTTPField.Name {
  /// Whether texts of the Connect API come encoded for HTML.
  static var entityEncoding: HTTPField.Name { .platform("X-Chatter-Entity-Encoding") }
}
