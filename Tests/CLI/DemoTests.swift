import Foundation
import SalesforceSDKCommon
import Testing

/// Does the whole story come to a good end?
@Suite struct DemoTests {
  @Test func `the demo on its sample org ends with both sides equal`() async throws {
    let tool = try Tool()
    let result = try await tool.run(["demo", "--json"])
    let report = try result.document()
    #expect(report["agree"] == true)
    #expect(report["leaks"] == [])
    let objects = try #require(report["sobjects"]?.array)
    #expect(objects.count >= 2)
    for object in objects {
      let counts = ["syncedDown", "created", "updated", "deleted", "conflicts", "ghosts"]
        .map { object[$0]?.int64 ?? -1 }
      #expect(object["syncedDown"] == object["loaded"])
      #expect(object["differences"] == 0)
      #expect(counts.allSatisfy { $0 >= 0 })
    }
    // Each chapter of the story was reported.
    for chapter in ["created", "updated", "deleted", "conflicts", "ghosts"] {
      #expect(objects.contains { ($0[chapter]?.int64 ?? 0) > 0 }, "\(chapter)")
    }
    // The words go where they do not mix with the document.
    #expect(result.errors.contains("Synced down"))
    #expect(result.errors.contains("conflict"))
  }

  @Test func `the demo works on objects that no description knows`() async throws {
    let tool = try Tool()
    _ = try tool.file(
      "workshops.json",
      """
      {"records":[
       {"attributes":{"type":"Workshop__c","referenceId":"W1"},"Name":"Harbour workshop","Bays__c":3},
       {"attributes":{"type":"Workshop__c","referenceId":"W2"},"Name":"Hillside workshop","Bays__c":5}]}
      """)
    _ = try tool.file(
      "repairs.json",
      """
      {"records":[\((0..<8).map {
        #"{"attributes":{"type":"Repair__c","referenceId":"R\#($0)"},"Name":"Repair order \#($0)","Workshop__c":"@W\#($0 % 2 + 1)","Hours__c":\#($0).5,"Notes__c":"Customer says it rattles, case \#($0)"}"#
      }.joined(separator: ","))]}
      """)
    let plan = try tool.file(
      "plan.json",
      """
      [{"sobject":"Workshop__c","saveRefs":true,"resolveRefs":false,"files":["workshops.json"]},
       {"sobject":"Repair__c","saveRefs":false,"resolveRefs":true,"files":["repairs.json"]}]
      """)
    let kept = tool.state.path
    let result = try await tool.run(["demo", "--data", plan, "--keep", kept])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("Both sides agree."))

    // What was kept is a state folder like any other, and shows nothing.
    let accounts = try await tool.json("accounts")
    #expect(accounts["accounts"]?.array?.count == 1)
    let soups = try await tool.json("soup", "list")
    #expect(soups["soups"]?.array?.contains("Repair__c") == true)
    let rows = try await tool.json(
      "store", "query", "SELECT count(*) FROM {Repair__c} WHERE {Repair__c:__local__} = '1'")
    #expect(rows["rows"] == [[0]])
    let files = FileManager.default.enumerator(atPath: kept)
    while let name = files?.nextObject() as? String {
      guard let bytes = try? Data(contentsOf: tool.state.appending(path: name)) else { continue }
      #expect(bytes.range(of: Data("rattles".utf8)) == nil, "\(name)")
      #expect(bytes.range(of: Data("Harbour".utf8)) == nil, "\(name)")
    }
    // A folder with other files in it is left alone.
    let again = try await tool.run(["demo", "--data", plan, "--keep", kept, "--json"])
    #expect(try again.failure()["code"] == "notEmpty")
  }

  @Test func `data that cannot be read ends the demo with a reason`() async throws {
    let tool = try Tool()
    let missing = try await tool.run(["demo", "--data", "/nowhere/plan.json", "--json"])
    _ = try missing.failure()
    #expect(missing.output.isEmpty)
    let broken = try await tool.run(
      ["demo", "--json", "--data", try tool.file("plan.json", #"[{"sobject":"#)])
    #expect(try broken.failure()["message"]?.string?.contains("plan.json") == true)
    #expect(broken.output.isEmpty)
    let empty = try await tool.run(["demo", "--json", "--data", try tool.file("none.json", "[]")])
    #expect(try empty.failure()["code"] == "noRecords")
  }

  @Test func `the demo takes records without a type, with an id, and without a field to edit`()
    async throws
  {
    let tool = try Tool()
    _ = try tool.file(
      "things.json",
      #"{"records":[{"Name":"first of all things","Id":"a00000000000001"},{"name":"another thing"}]}"#
    )
    _ = try tool.file(
      "bare.json", #"{"records":[{"attributes":{"type":"Bare__c","referenceId":"B1"}}]}"#)
    _ = try tool.file(
      "flags.json", #"{"records":[{"attributes":{"type":"Flag__c"},"Up__c":true}]}"#)
    let plan = try tool.file(
      "plan.json",
      """
      [{"sobject":"Thing__c","files":["things.json"]},
       {"sobject":"Bare__c","files":["bare.json"]}, {"sobject":"Flag__c","files":["flags.json"]}]
      """)
    let result = try await tool.run(["demo", "--json", "--data", plan])
    #expect(try result.document()["agree"] == true)
    #expect(result.errors.contains("Nothing to edit offline in Flag__c"))
  }
}
