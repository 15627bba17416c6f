import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does the check of a configuration file find everything that is wrong?
@Suite struct CheckConfigTests {
  private func check(_ text: String, _ type: String) async throws -> (Tool.Result, JSONValue) {
    let tool = try Tool()
    let file = try tool.file("config.json", text)
    let arguments = ["checkConfig", "--configPath=\(file)", "--configtype=\(type)"]
    let document = try JSONSlice(parsing: try await tool.run(arguments + ["--json"]).output).value
    return (try await tool.run(arguments), document)
  }

  @Test(
    .covers("HT-56"),
    arguments: [
      ("store", #"{"soups":[{"soupName":"a","indexes":[{"path":"Id","type":"string"}]}]}"#),
      (
        "syncs",
        #"{"syncs":[{"syncName":"d","syncType":"syncDown","soupName":"a","target":{"type":"soql","query":"SELECT Id FROM Account"},"options":{"mergeMode":"OVERWRITE"}}]}"#
      ),
    ])
  func `a right file ends with 0`(type: String, text: String) async throws {
    let (result, document) = try await check(text, type)
    #expect(result.status == 0 && result.output.contains("is valid"))
    #expect(document["valid"] == true && document["problems"] == [])
  }

  @Test(.covers("HT-56", "HT-49", "BX-71.2"))
  func `every fault of a store's file has its line, path and reason`() async throws {
    let (result, document) = try await check(
      """
      { "soups": [
        { "soupName": "a", "indexes": [ { "path": "Id", "type": "strng" },
                                        { "path": "Id", "type": "string" }, 3 ] },
        { "soupName": "a", "indexes": [] },
        { "soupNme": "b", "indexes": {} },
        7 ], "more": 1 }
      """, "store")
    #expect(result.status == 1)
    let problems = document["problems"]?.array ?? []
    let paths = problems.compactMap { $0["path"]?.string }
    #expect(
      paths == [
        "more", "soups[0].indexes[0].type", "soups[0].indexes[1].path", "soups[0].indexes[2]",
        "soups[1].soupName", "soups[1].indexes", "soups[2].soupNme", "soups[2]", "soups[2].indexes",
        "soups[3]",
      ])
    #expect(problems[1]["line"] == 2 && problems[1]["column"] == 59)
    #expect(problems[1]["message"]?.string?.contains("Did you mean 'string'?") == true)
    #expect(result.output.contains("config.json:2:59: error: 'strng' is not an index type."))
    #expect(result.output.contains("10 errors"))
    // Each soup that is left out says so once, at the last of its errors.
    let leftOut = problems.filter { $0["message"]?.string?.contains("is left out.") == true }
    #expect(
      leftOut.compactMap { $0["path"]?.string } == [
        "soups[0].indexes[2]", "soups[1].indexes", "soups[2].indexes", "soups[3]",
      ])
  }

  @Test(
    .covers("HT-56", "HT-49"),
    arguments: [
      ("store", "{\n \"soups\": [,] }", 2), ("syncs", "{\n\n \"syncs\": [,] }", 3),
      ("store", "[]", 1), ("syncs", "3", 1), ("store", "{}", 1), ("store", "", 1),
      ("syncs", #"{"syncs":[{"syncName":"d","syncType":"dwon","soupName":"a","target":{}}]}"#, 1),
    ])
  func `a wrong file ends with 1 and names the line`(
    type: String, text: String, line: Int64
  ) async throws {
    let (result, document) = try await check(text, type)
    #expect(result.status == 1 && result.output.contains("config.json:\(line):"))
    #expect(document["valid"] == false)
    #expect(document["problems"]?[0]?["line"]?.int64 == line)
  }

  @Test(
    .covers("HT-50"),
    arguments: [
      (["--configtype=store"], "--configpath is missing"),
      (["--configpath=/nowhere", "--configtype=store"], "no file '/nowhere'"),
      (["--configpath=/etc", "--configtype=store"], "no file '/etc'"),
      (["--configpath=/etc/hosts", "--configtype=soups"], "Write store or syncs"),
    ])
  func `a wrong argument ends with 2`(arguments: [String], reason: String) async throws {
    let result = try await Tool().run(["checkconfig"] + arguments)
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors.contains(reason), "\(result.errors)")
  }
}
