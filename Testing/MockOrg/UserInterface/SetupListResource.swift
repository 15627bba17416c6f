/// Lists of what an administrator sets up in a real org. Here they have the platform's form and no elements.
struct SetupListResource: Resource {
  let call: RESTCall

  /// `/quickActions` and `/sobjects/NAME/quickActions`.
  func quickActions() -> OrgResponse { .json([]) }

  /// `/sobjects/NAME/listviews` and `.../recent`.
  func listViews() throws -> OrgResponse {
    .json([
      "done": true, "listviews": [], "nextRecordsUrl": nil, "size": 0,
      "sobjectType": .string(try object.name),
    ])
  }

  /// `/sobjects/NAME/describe/approvalLayouts`.
  func approvalLayouts() -> OrgResponse { .json(["approvalLayouts": []]) }

  /// `/process/rules`, with the rules of each object.
  func processRules() -> OrgResponse { .json(["rules": [:]]) }

  /// `/process/approvals`, with the processes of each object.
  func approvals() -> OrgResponse { .json(["approvals": [:]]) }

  /// `/process`.
  func processes() -> OrgResponse { .json(urls(of: ["approvals", "rules"], in: "process")) }

  /// `/appMenu`.
  func appMenus() -> OrgResponse { .json(urls(of: ["AppSwitcher", "Salesforce1"], in: "appMenu")) }

  /// `/appMenu/AppSwitcher` and `/appMenu/Salesforce1`.
  func appMenu() -> OrgResponse { .json(["appMenuItems": []]) }

  /// `/actions`.
  func actions() -> OrgResponse { .json(urls(of: ["standard", "custom"], in: "actions")) }

  /// `/actions/custom`.
  func customActions() -> OrgResponse {
    .json(urls(of: ["quickAction", "apex", "emailAlert", "flow"], in: "actions/custom"))
  }

  /// `/actions/standard`, and the custom ones of a kind.
  func actionList() -> OrgResponse { .json(["actions": []]) }

  private func urls(of names: [String], in folder: String) -> ResponseJSON {
    .object(names.map { ($0, .string(url("\(folder)/\($0)"))) })
  }
}
