/// `/sobjects/NAME`: an object in brief, with the records of it that the user has seen last.
struct ObjectResource: Resource {
  let call: RESTCall

  func basicInformation() throws -> OrgResponse {
    let object = try object
    let recent = try RecentRecord.all(of: object, limit: 200, transaction, org.recents)
    return .json([
      "objectDescribe": DescribeJSON(versionPath: transaction.versionPath).summary(of: object),
      "recentItems": .array(recent) { $0.json(transaction) },
    ])
  }
}
