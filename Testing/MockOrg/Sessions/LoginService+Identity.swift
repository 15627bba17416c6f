import SalesforceSDKCommon

/// Who the user of a session is, for clients that have one.
extension LoginService {
  func userInfo(_ request: OrgRequest) -> OrgResponse {
    guard let token = Self.bearerToken(of: request) ?? Form(request)["access_token"] else {
      return plain("Missing_OAuth_Token")
    }
    guard let session = sessions.session(token, now: now), let user = user(session.userID) else {
      return plain("Bad_OAuth_Token")
    }
    return .json([
      "sub": .string(identityURL(of: user.id)), "user_id": .string(user.id),
      "organization_id": .string(organizationID), "preferred_username": .string(user.username),
      "nickname": .string(user.firstName), "name": "\(user.firstName) \(user.lastName)",
      "email": .string(user.email), "given_name": .string(user.firstName),
      "family_name": .string(user.lastName), "zoneinfo": "GMT", "user_type": "STANDARD",
      "language": "en_US", "locale": "en_US", "updated_at": .string(DateText.dateTime(now)),
      "profile": "\(baseURL)/\(user.id)", "picture": "\(baseURL)/profilephoto/005/F",
      "email_verified": true, "active": true, "is_app_installed": true, "address": [:],
      "is_salesforce_integration_user": false, "utcOffset": 0, "photos": photos,
      "urls": urls(of: user),
    ])
  }

  /// `/id/ORG/USER`, in the form that the request names.
  func identity(_ request: OrgRequest) -> OrgResponse {
    OAuthForm.identity(identityInJSON(request), for: request)
  }

  private func identityInJSON(_ request: OrgRequest) -> OrgResponse {
    guard
      let token = Self.bearerToken(of: request) ?? Form(request)["access_token"]
        ?? Form(request)["oauth_token"]
    else { return plain("Missing_OAuth_Token") }
    guard let session = sessions.session(token, now: now), let user = user(session.userID) else {
      return plain("Bad_OAuth_Token")
    }
    guard RecordID.normalized(request.path[1]) == organizationID else { return plain("Wrong_Org") }
    guard RecordID.normalized(request.path[2]) == user.id else { return plain("Bad_Id") }
    var json: ResponseJSON = [
      "id": .string(identityURL(of: user.id)), "user_id": .string(user.id),
      "organization_id": .string(organizationID), "username": .string(user.username),
      "nick_name": .string(user.firstName), "display_name": "\(user.firstName) \(user.lastName)",
      "email": .string(user.email), "first_name": .string(user.firstName),
      "last_name": .string(user.lastName), "timezone": "GMT", "user_type": "STANDARD",
      "language": "en_US", "locale": "en_US",
      "last_modified_date": .string(DateText.dateTime(now)), "asserted_user": true,
      "email_verified": true, "active": true, "is_app_installed": true, "mobile_phone": nil,
      "addr_street": nil, "addr_city": nil, "addr_state": nil, "addr_country": nil,
    ]
    json.append(user.identityPolicy.members)
    json.append([
      "utcOffset": 0, "photos": photos, "status": ["created_date": nil, "body": nil],
      "urls": urls(of: user),
    ])
    return .json(json)
  }

  private func plain(_ text: String) -> OrgResponse {
    OrgResponse(status: 403, body: Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }

  private var photos: ResponseJSON {
    [
      "picture": "\(baseURL)/profilephoto/005/F", "thumbnail": "\(baseURL)/profilephoto/005/T",
    ]
  }

  /// The URLs keep `{version}` for the client to fill in.
  private func urls(of user: LoginUser) -> ResponseJSON {
    let data = "\(baseURL)/services/data/v{version}/"
    return [
      "enterprise": "\(baseURL)/services/Soap/c/{version}/\(organizationID)",
      "metadata": "\(baseURL)/services/Soap/m/{version}/\(organizationID)",
      "partner": "\(baseURL)/services/Soap/u/{version}/\(organizationID)",
      "rest": .string(data), "sobjects": "\(data)sobjects/", "search": "\(data)search/",
      "query": "\(data)query/", "recent": "\(data)recent/",
      "tooling_soap": "\(baseURL)/services/Soap/T/{version}/\(organizationID)",
      "tooling_rest": "\(data)tooling/", "profile": "\(baseURL)/\(user.id)",
      "feeds": "\(data)chatter/feeds", "groups": "\(data)chatter/groups",
      "users": "\(data)chatter/users", "feed_items": "\(data)chatter/feed-items",
      "feed_elements": "\(data)chatter/feed-elements",
      "custom_domain": .string(baseURL),
    ]
  }
}
