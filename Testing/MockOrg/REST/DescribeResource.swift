/// Descriptions: of all objects, of one object, of its layouts.
struct DescribeResource: Resource {
  let call: RESTCall

  /// `/sobjects`: the names, prefixes and abilities of all objects.
  func all() -> OrgResponse {
    .json(DescribeJSON(versionPath: transaction.versionPath).global(of: transaction.schema))
  }

  /// `/sobjects/NAME/describe`: all that the org knows about one object, the record types that its users have
  /// included.
  func one() throws -> OrgResponse {
    let object = try object
    return .json(
      DescribeJSON(versionPath: transaction.versionPath, baseURL: transaction.baseURL).object(
        object, recordTypes: try transaction.recordTypes(of: object)))
  }

  // MARK: Layouts

  /// `/sobjects/NAME/describe/layouts`.
  func layouts() throws -> OrgResponse {
    let object = try object
    let types = try transaction.recordTypes(of: object)
    return .json(LayoutJSON(object, versionPath: transaction.versionPath).all(for: types))
  }

  /// `/sobjects/NAME/describe/layouts/RECORDTYPE`: the one layout that a record type has.
  func layout() throws -> OrgResponse {
    let object = try object
    guard let wanted = RecordID.normalized(call["recordType"]),
      try transaction.recordTypes(of: object).contains(where: { $0.id == wanted })
    else { throw ServerError.notFound() }
    return .json(LayoutJSON(object, versionPath: transaction.versionPath).layout)
  }

  /// `/sobjects/NAME/describe/compactLayouts`.
  func compactLayouts() throws -> OrgResponse {
    .json(try LayoutJSON(object, versionPath: transaction.versionPath).allCompact)
  }

  /// `/sobjects/NAME/describe/compactLayouts/primary`, or with a record type in place of `primary`.
  func compactLayout() throws -> OrgResponse {
    let object = try object
    let name = call["recordType"]
    let types = try transaction.recordTypes(of: object).map(\.id)
    guard name == "primary" || RecordID.normalized(name).map(types.contains) == true else {
      throw ServerError.notFound()
    }
    return .json(LayoutJSON(object, versionPath: transaction.versionPath).compact)
  }

  /// `/compactLayouts?q=Account,Contact`: the primary compact layout of each.
  func compactLayoutsOfSeveral() throws -> OrgResponse {
    let objects = try request.objects(named: "q", in: transaction)
    return .json(
      .object(
        objects.map {
          ($0.name, LayoutJSON($0, versionPath: transaction.versionPath).compact)
        }))
  }
}
