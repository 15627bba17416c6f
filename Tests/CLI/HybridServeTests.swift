import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Can a person serve a folder of pages, and a program find its addresses?
struct HybridServeTests {
  @Test(.covers("HT-84"))
  func `the first line has the addresses, the pages are served, and SIGTERM ends it well`()
    async throws
  {
    let tool = try Tool()
    let boot = URL(filePath: try tool.file("bootconfig.json", #"{"startPage":"one.html"}"#))
    _ = try tool.file("one.html", "<p>one</p>")
    let (status, rest) = try await Tool.serve([
      "hybrid", "serve", "--www", boot.deletingLastPathComponent().path, "--state",
      tool.state.path,
    ]) { line in
      let info = try JSONSlice(parsing: line)
      let start = try #require(URL(string: info["startUrl"]?.string ?? ""))
      #expect(try await WebPage.load(URLRequest(url: start)).text == "<p>one</p>")
      let url = try #require(info["url"]?.string)
      #expect(info["startUrl"]?.string == url + "one.html")
      #expect(info["socket"]?.string == url.replacing("http://", with: "ws://") + "_bridge")
      let script = try #require(URL(string: url + "cordova.js"))
      #expect(try await WebPage.load(URLRequest(url: script)).status == 200)
    }
    #expect(status == 0)
    #expect(rest.isEmpty)
  }

  @Test(.covers("HT-2", "SS-86.2", "MS-269.2"))
  func `the files of www register soups and create syncs before the first call`()
    async throws
  {
    try await withMockOrg { _, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      let soups =
        #"{"soups":[{"soupName":"notes","indexes":[{"path":"Id","type":"string"},{"path":"__local__","type":"string"}]}]}"#
      let www = URL(filePath: try tool.file("globalstore.json", soups)).deletingLastPathComponent()
      _ = try tool.file("userstore.json", soups)
      _ = try tool.file(
        "usersyncs.json",
        #"{"syncs":[{"syncName":"down","syncType":"syncDown","soupName":"notes","target":{"type":"soql","query":"SELECT Id FROM Account"},"options":{"mergeMode":"OVERWRITE"}}]}"#
      )
      let (status, _) = try await Tool.serve([
        "hybrid", "serve", "--www", www.path, "--state", tool.state.path,
      ]) { line async throws in
        #expect(try JSONSlice(parsing: line)["startUrl"]?.string?.hasSuffix("/index.html") == true)
      }
      #expect(status == 0)
      #expect(try await tool.json("soup", "list").text.contains("notes"))
      #expect(try await tool.json("soup", "list", "--global").text.contains("notes"))
      #expect(try await tool.json("sync", "list").text.contains("down"))
    }
  }

  @Test func `a folder that does not exist and a port that is none are refused`() async throws {
    let tool = try Tool()
    let failure = try await tool("hybrid", "serve", "--www", "/nowhere/www")
    #expect(failure.status == 1)
    #expect(failure.errors.contains("/nowhere/www"))
    #expect(failure.output.isEmpty)
    #expect(try await tool("hybrid", "serve", "--port", "70000").status != 0)
    #expect(try await tool("hybrid", "open").status != 0)
  }
}
