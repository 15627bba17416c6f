package import SalesforceAnalytics
import SalesforceSDKCommon

/// The events of stores and soups. They contain no names of either.
extension AnalyticsEvent {
  /// Creates the event of a registered soup.
  static func registerSoup(_ soup: Soup, at time: Int64) -> AnalyticsEvent {
    var features: [JSONValue] = []
    if soup.indexes.contains(where: { $0.type == .json1 }) { features.append("JSON1") }
    if soup.hasFullText { features.append("FTS") }
    if soup.isExternal { features.append("ExternalStorage") }
    return AnalyticsEvent(
      name: "registerSoup", className: "SmartStore", attributes: ["features": .array(features)],
      startTime: time)
  }

  /// Creates the event of an opened store, whose owner has `count` stores.
  static func storeInit(of owner: StoreOwner, count: Int, at time: Int64) -> AnalyticsEvent {
    let (name, key) =
      owner.isGlobal
      ? ("globalSmartStoreInit", "numGlobalStores") : ("userSmartStoreInit", "numUserStores")
    return AnalyticsEvent(
      name: name, className: "SmartStore", attributes: [key: .integer(Int64(count))],
      startTime: time)
  }
}

extension EventStore {
  /// Returns the event store for the events in an owner's stores.
  package func scoped(to owner: StoreOwner) -> any EventStore {
    guard case .user(let organization, let user, let community) = owner else { return self }
    return scoped(
      to: EventOwner(organizationId: organization, userId: user, communityId: community))
  }
}
