public import SalesforceSDKCommon

/// A kind of notification, with the actions that a user can choose (CO-143).
public struct NotificationType: Sendable, Equatable {
  /// The platform's name of the kind.
  public let type: String
  /// Its API name.
  public let apiName: String
  /// The label for users.
  public let label: String
  /// The groups of actions.
  public let actionGroups: [ActionGroup]

  /// Actions that belong together.
  public struct ActionGroup: Sendable, Equatable {
    /// The group's name.
    public let name: String
    /// The actions that a user can choose.
    public let actions: [Action]
  }

  /// Something that a user can choose.
  public struct Action: Sendable, Equatable {
    /// The action's name.
    public let name: String
    /// The key with which it is invoked.
    public let actionKey: String
    /// The label for users.
    public let label: String
    /// The platform's name of its kind.
    public let type: String
  }

  /// Reads an element of a response; nil without a name.
  init?(_ json: JSONSlice) {
    guard let apiName = json["apiName"]?.string ?? json["type"]?.string else { return nil }
    self.apiName = apiName
    type = json["type"]?.string ?? apiName
    label = json["label"]?.string ?? apiName
    actionGroups = Self.elements(json["actionGroups"]).map { group in
      ActionGroup(
        name: group["name"]?.string ?? "",
        actions: Self.elements(group["actions"]).compactMap { action in
          guard let key = action["actionKey"]?.string else { return nil }
          return Action(
            name: action["name"]?.string ?? key, actionKey: key,
            label: action["label"]?.string ?? key, type: action["type"]?.string ?? "")
        })
    }
  }

  private static func elements(_ json: JSONSlice?) -> [JSONSlice] {
    json.map { Array($0.elements) } ?? []
  }

  /// Parses the types in a response, or in its stored form.
  static func list(_ json: JSONSlice) -> [NotificationType]? {
    guard let list = json["notificationTypes"], list.kind == .array else { return nil }
    return list.elements.compactMap { NotificationType($0) }
  }

  /// The same in the form of a response.
  public var json: JSONValue {
    [
      "type": .string(type), "apiName": .string(apiName), "label": .string(label),
      "actionGroups": .array(
        actionGroups.map { group in
          [
            "name": .string(group.name),
            "actions": .array(
              group.actions.map { action in
                [
                  "name": .string(action.name), "actionKey": .string(action.actionKey),
                  "label": .string(action.label), "type": .string(action.type),
                ]
              }),
          ]
        }),
    ]
  }
}
