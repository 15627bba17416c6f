import SalesforceAnalytics
import SalesforceSDKCommon
import Testing
import TestSupport

@Suite struct EventStoreTests {
  @Test(.covers("MS-315"))
  func `events are kept in order, the newest only`() async {
    let store = InMemoryEventStore(maxEvents: 2)
    for time in 1...3 {
      await store.store(AnalyticsEvent(name: "syncDown", startTime: Int64(time)))
    }
    #expect(store.events.map(\.startTime) == [2, 3])
  }

  @Test(.covers("MS-315"))
  func `an event keeps its attributes and times`() async {
    let store = InMemoryEventStore()
    let event = AnalyticsEvent(
      name: "syncUp", attributes: ["syncId": 12, "numRecords": 3], startTime: 5, endTime: 9)
    await store.store(event)
    #expect(store.events == [event])
    await DiscardingEventStore().store(event)
  }
}
