/// The tabs of the org's pages, and how their objects look: one for each object that a person works with.
struct TabResource: Resource {
  let call: RESTCall

  /// `/tabs`. Colors and icons are those of `/theme`: none.
  func list() -> OrgResponse {
    .json(
      .array(objects) { object in
        let icon = "\(transaction.baseURL)/img/icon/default32.png"
        return [
          "colors": [], "custom": .bool(object.custom), "iconUrl": .string(icon), "icons": [],
          "label": .string(object.labelPlural), "miniIconUrl": .string(icon),
          "name": .string(object.custom ? object.name : "standard-\(object.name)"),
          "sobjectName": .string(object.name),
          "url": "\(transaction.baseURL)/\(object.keyPrefix ?? "")/o",
        ]
      })
  }

  /// `/theme`.
  func theme() -> OrgResponse {
    .json([
      "themeItems": .array(objects) { object in
        ["colors": [], "icons": [], "name": .string(object.name)]
      }
    ])
  }

  private var objects: [ObjectSchema] {
    transaction.schema.objects.filter { $0.searchable && $0.createable && $0.keyPrefix != nil }
  }
}
