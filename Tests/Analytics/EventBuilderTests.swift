import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import TestSupport
import Testing

/// What does an event hold, and which events are refused?
@Suite struct EventBuilderTests {
  private let device = DeviceAppAttributes(
    appVersion: "1.2(3)", appName: "Notes", osVersion: "12", osName: "Linux",
    nativeAppType: "Native", mobileSdkVersion: "0.1.0", deviceModel: "x86_64", deviceId: "d-1",
    clientId: "key")

  private func manager(
    _ device: DeviceAppAttributes?, _ network: NetworkStatus = .viaWiFi
  ) -> AnalyticsManager {
    AnalyticsManager(
      store: EventStoreManager(directory: URL(filePath: "/nonexistent")),
      deviceAppAttributes: device, now: { 77 }, network: { network })
  }

  private func fill(_ builder: inout InstrumentationEventBuilder) {
    builder.name = "open"
    builder.schemaType = .interaction
    builder.eventType = .user
    builder.page = ["context": "NoteView"]
  }

  @Test(.covers("CA-35"))
  func `an event keeps everything on the way through JSON`() throws {
    let event = try manager(device).event { builder in
      fill(&builder)
      builder.errorType = .warning
      builder.startTime = 5
      builder.endTime = 9
      builder.sessionStartTime = 2
      builder.attributes = ["a": [1, 2.5, true, nil]]
      builder.sessionId = "s"
      builder.senderId = "button"
      builder.senderContext = ["row": 1]
      builder.senderParentId = "list"
      builder.previousPage = ["context": "Home"]
      builder.marks = ["m": 1]
    }
    let json = event.json
    #expect(json.count == 19)
    let again = try #require(InstrumentationEvent(json: json))
    #expect(JSONValue.object(again.json).text == JSONValue.object(json).text)
    #expect(json["schemaType"] == "LightningInteraction" && json["eventType"] == "user")
    #expect(json["errorType"] == "warn" && json["sequenceId"] == 1)
    #expect(json["deviceAppAttributes"]?["clientId"] == "key")
  }

  @Test(.covers("CA-35"))
  func `members that an event does not have stay absent`() throws {
    let least: JSONObject = [
      "eventId": "e", "startTime": 1, "endTime": 0, "name": "n", "sequenceId": 4,
      "schemaType": "LightningPerformance", "sessionStartTime": 1,
    ]
    let event = try #require(InstrumentationEvent(json: least))
    #expect(event.json == least)
    #expect(event.eventType == nil && event.page == nil && event.deviceAppAttributes == nil)
    for key in ["eventId", "name", "schemaType"] {
      var incomplete = least
      incomplete[key] = nil
      #expect(InstrumentationEvent(json: incomplete) == nil)
    }
  }

  @Test(.covers("CA-35"))
  func `unknown kinds mean errors, and events are equal by id alone`() throws {
    #expect(SchemaType(text: "LightningNews") == .error && EventType(text: "robot") == .error)
    #expect(ErrorType(text: "fatal") == .error)
    #expect(SchemaType.allCases.allSatisfy { SchemaType(text: $0.rawValue) == $0 })
    let manager = manager(device)
    let one = try manager.event(fill)
    let two = try manager.event(fill)
    #expect(one != two)
    var json = one.json
    json["name"] = "other"
    let copy = try #require(InstrumentationEvent(json: json))
    #expect(copy == one && Set([copy, one, two]).count == 2)
  }

  @Test(.covers("CA-36"))
  func `facts about the device have the platform's names, and only texts`() {
    #expect(
      device.json.keys == [
        "appVersion", "appName", "osVersion", "osName", "nativeAppType", "mobileSdkVersion",
        "deviceModel", "deviceId", "clientId",
      ])
    #expect(DeviceAppAttributes(json: device.json) == device)
    #expect(DeviceAppAttributes(json: ["osName": 5, "orgId": "00D"]) == DeviceAppAttributes())
    #expect(DeviceAppAttributes().json.isEmpty)
  }

  @Test(.covers("CA-37"))
  func `id, number, times and connection are filled in`() throws {
    let manager = manager(device)
    let event = try manager.event(fill)
    #expect(UUID(uuidString: event.eventId) != nil)
    #expect(event.sequenceId == 1 && manager.globalSequenceId == 1)
    #expect(event.startTime == 77 && event.sessionStartTime == 77 && event.endTime == 0)
    #expect(event.connectionType == "WiFi" && event.deviceAppAttributes == device)
    for (status, text) in [
      (NetworkStatus.viaCellular, "Mobile"), (.notReachable, "None"), (.unknown, "Unknown"),
    ] {
      #expect(try self.manager(device, status).event(fill).connectionType == text)
    }
  }

  @Test(.covers("CA-37"))
  func `an event without a mandatory part is refused for the last reason, and uses no number up`()
    throws
  {
    let manager = manager(device)
    let parts: [(EventBuilderError.Code, (inout InstrumentationEventBuilder) -> Void)] = [
      (.missingName, { $0.name = " " }), (.missingSchemaType, { $0.schemaType = nil }),
      (.missingEventType, { $0.eventType = nil }), (.missingPage, { $0.page = nil }),
      (.invalidJSON, { $0.attributes = ["x": .double(.infinity)] }),
      (.invalidJSON, { $0.marks = ["x": .double(.nan)] }),
    ]
    for (code, spoil) in parts {
      let error = #expect(throws: EventBuilderError.self) {
        try manager.event {
          fill(&$0); spoil(&$0)
        }
      }
      #expect(error?.code == code)
      #expect(
        manager.eventIfValid {
          fill(&$0); spoil(&$0)
        } == nil)
    }
    let error = #expect(throws: EventBuilderError.self) { try manager.event { _ in } }
    #expect(error?.code == .missingPage)
    #expect(manager.globalSequenceId == 0)
    let bare = #expect(throws: EventBuilderError.self) { try self.manager(nil).event(fill) }
    #expect(bare?.code == .missingDeviceAttributes)
    // Performance needs no page; errors and page views need no origin.
    #expect(
      manager.eventIfValid {
        fill(&$0); $0.schemaType = .performance; $0.page = nil
      } != nil)
    #expect(
      manager.eventIfValid {
        fill(&$0); $0.schemaType = .error; $0.eventType = nil
      } != nil)
    #expect(
      manager.eventIfValid {
        fill(&$0); $0.schemaType = .pageView; $0.eventType = nil
      } != nil)
  }

  @Test(.covers("CA-37"))
  func `of many tasks that build events each gets a number of its own`() async throws {
    let manager = manager(device)
    let numbers = await withTaskGroup(of: Int64?.self) { group in
      for _ in 0..<200 { group.addTask { manager.eventIfValid(self.fill)?.sequenceId } }
      return await group.reduce(into: Set<Int64>()) { if let number = $1 { $0.insert(number) } }
    }
    #expect(numbers == Set(1...200))
  }
}
