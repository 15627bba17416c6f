import FieldforceInspector
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// Are key-value stores shown by pages and parts?
struct KeyValueTests {
  @Test(.covers("HT-67"), .covers("BX-108"))
  func `keys come by pages in order, and texts and bytes by parts`() async throws {
    let fixture = try StoresFixture()
    let values = KeyValueStores(
      folders: UserFolders(root: fixture.folder.file("values")),
      keys: KeyGenerator(fixture.secrets))
    let store = try values.globalStore(named: "drafts")
    try store.saveValue("Grüße 😀!", forKey: "../greeting")
    try store.saveData([0xFF, 0x00, 0x01, 0x02], forKey: "photo")
    for number in 0..<5 { try store.saveValue("page", forKey: "cache/\(number)") }
    var app = fixture.app
    app.keyValueStores = values
    try await fixture.inspect(app) { client in
      let listed = try #require(try await client.get("keyvalues")["stores"]?[0])
      #expect(listed["name"]?.string == "drafts")
      #expect(listed["owner"]?.kind == .null)
      #expect(listed["count"]?.int64 == 7)
      let path = "keyvalues/\(listed["id"]?.string ?? "")/keys"
      var keys: [String] = []
      var query = ["limit": "3"]
      while true {
        let page = try await client.get(path, query)
        keys += page["keys"]?.elements.compactMap { $0["key"]?.string } ?? []
        guard let next = page["next"]?.string else { break }
        query["after"] = next
      }
      #expect(keys == ["../greeting"] + (0..<5).map { "cache/\($0)" } + ["photo"])
      #expect(try await client.get(path, ["search": "cache"])["keys"]?.count == 5)
      let greeting = try await client.get(
        "\(path)/\(Base64URL.encode("../greeting".utf8))", ["from": "6", "length": "1"])
      #expect(greeting["form"]?.string == "text")
      #expect(greeting["content"]?.string == "😀")
      let photo = try await client.get(
        "\(path)/\(Base64URL.encode("photo".utf8))", ["from": "1", "length": "2"])
      #expect(photo["form"]?.string == "bytes")
      #expect(photo["content"]?.string == "0001")
      #expect(photo["bytes"]?.int64 == 4)
      #expect(try await client.call("\(path)/none").error == "notFound")
      #expect(try await client.call("keyvalues/none/keys").error == "notFound")
    }
  }
}
