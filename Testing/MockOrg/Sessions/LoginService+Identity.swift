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
    return .json { writer in
      writer.beginObject()
      members(
        [
          ("sub", identityURL(of: user.id)), ("user_id", user.id),
          ("organization_id", organizationID), ("preferred_username", user.username),
          ("nickname", user.firstName), ("name", "\(user.firstName) \(user.lastName)"),
          ("email", user.email), ("given_name", user.firstName), ("family_name", user.lastName),
          ("zoneinfo", "GMT"), ("user_type", "STANDARD"), ("language", "en_US"),
          ("locale", "en_US"), ("updated_at", DateText.dateTime(now)),
          ("profile", "\(baseURL)/\(user.id)"), ("picture", "\(baseURL)/profilephoto/005/F"),
        ], to: &writer)
      for flag in ["email_verified", "active", "is_app_installed"] {
        writer.key(flag)
        writer.bool(true)
      }
      writer.key("address")
      writer.beginObject()
      writer.endObject()
      writer.key("is_salesforce_integration_user")
      writer.bool(false)
      writer.key("utcOffset")
      writer.integer(0)
      writer.key("photos")
      photos(to: &writer)
      writer.key("urls")
      urls(of: user, to: &writer)
      writer.endObject()
    }
  }

  /// `/id/ORG/USER`.
  func identity(_ request: OrgRequest) -> OrgResponse {
    guard
      let token = Self.bearerToken(of: request) ?? Form(request)["access_token"]
        ?? Form(request)["oauth_token"]
    else { return plain("Missing_OAuth_Token") }
    guard let session = sessions.session(token, now: now), let user = user(session.userID) else {
      return plain("Bad_OAuth_Token")
    }
    guard RecordID.normalized(request.path[1]) == organizationID else { return plain("Wrong_Org") }
    guard RecordID.normalized(request.path[2]) == user.id else { return plain("Bad_Id") }
    return .json { writer in
      writer.beginObject()
      let name = "\(user.firstName) \(user.lastName)"
      members(
        [
          ("id", identityURL(of: user.id)), ("user_id", user.id),
          ("organization_id", organizationID), ("username", user.username),
          ("nick_name", user.firstName), ("display_name", name), ("email", user.email),
          ("first_name", user.firstName), ("last_name", user.lastName), ("timezone", "GMT"),
          ("user_type", "STANDARD"), ("language", "en_US"), ("locale", "en_US"),
          ("last_modified_date", DateText.dateTime(now)),
        ], to: &writer)
      for flag in ["asserted_user", "email_verified", "active"] {
        writer.key(flag)
        writer.bool(true)
      }
      writer.key("is_app_installed")
      writer.bool(true)
      for nothing in ["mobile_phone", "addr_street", "addr_city", "addr_state", "addr_country"] {
        writer.key(nothing)
        writer.null()
      }
      if let policy = options.mobilePolicy {
        writer.key("mobile_policy")
        writer.beginObject()
        members(
          [
            ("screen_lock", "\(policy.screenLockMinutes)"), ("pin_length", "\(policy.pinLength)"),
          ], to: &writer)
        writer.endObject()
      }
      writer.key("utcOffset")
      writer.integer(0)
      writer.key("photos")
      photos(to: &writer)
      writer.key("status")
      writer.beginObject()
      for key in ["created_date", "body"] {
        writer.key(key)
        writer.null()
      }
      writer.endObject()
      writer.key("urls")
      urls(of: user, to: &writer)
      writer.endObject()
    }
  }

  private func plain(_ text: String) -> OrgResponse {
    OrgResponse(status: 403, body: Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }

  private func members(_ members: [(String, String)], to writer: inout JSONWriter) {
    for (key, value) in members {
      writer.key(key)
      writer.string(value)
    }
  }

  private func photos(to writer: inout JSONWriter) {
    writer.beginObject()
    members(
      [
        ("picture", "\(baseURL)/profilephoto/005/F"),
        ("thumbnail", "\(baseURL)/profilephoto/005/T"),
      ], to: &writer)
    writer.endObject()
  }

  /// The URLs keep `{version}` for the client to fill in.
  private func urls(of user: LoginUser, to writer: inout JSONWriter) {
    let data = "\(baseURL)/services/data/v{version}/"
    writer.beginObject()
    members(
      [
        ("enterprise", "\(baseURL)/services/Soap/c/{version}/\(organizationID)"),
        ("partner", "\(baseURL)/services/Soap/u/{version}/\(organizationID)"),
        ("rest", data), ("sobjects", "\(data)sobjects/"), ("search", "\(data)search/"),
        ("query", "\(data)query/"), ("recent", "\(data)recent/"),
        ("profile", "\(baseURL)/\(user.id)"), ("custom_domain", baseURL),
      ], to: &writer)
    writer.endObject()
  }
}
