/// Which layout a page asks for.
struct LayoutForm {
  var formFactor = "Large"
  var layoutType = "Full"
  var mode = "View"
  var recordTypeID: String?

  init(_ request: OrgRequest) throws(ServerError) {
    func choice(
      _ name: String, _ known: [String], _ usual: String
    ) throws(ServerError) -> String {
      guard let given = request[query: name] else { return usual }
      guard let value = known.first(where: { $0.lowercased() == given.lowercased() }) else {
        throw ServerError(
          "ILLEGAL_QUERY_PARAMETER_VALUE",
          "\(given) is no value of \(name). Known are \(known.joined(separator: ", "))")
      }
      return value
    }
    formFactor = try choice("formFactor", ["Large", "Medium", "Small"], formFactor)
    layoutType = try choice("layoutType", ["Compact", "Full"], layoutType)
    mode = try choice("mode", ["Create", "Edit", "View"], mode)
    if let text = request[query: "recordTypeId"], !text.isEmpty {
      guard let id = RecordID.normalized(text) else { throw .malformedID(text) }
      recordTypeID = id
    }
  }
}
