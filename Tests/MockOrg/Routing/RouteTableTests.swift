import Testing

@testable import SalesforceMockOrg

/// Which route has a path, and what becomes of one that none has.
@Suite struct RouteTableTests {
  private typealias Table = RouteTable<[String], String>

  private static let table = Table([
    Route(path: [], handlers: ["GET": "root"]),
    Route(path: ["things"], handlers: ["GET": "list"]),
    Route(path: ["things"], handlers: ["POST": "make"]),
    Route(path: ["things", "new"], handlers: ["GET": "form"]),
    Route(path: ["things", .anyCase("Search")], handlers: ["GET": "search"]),
    Route(
      path: ["things", .value("known") { text, _, service in service.contains(text) }],
      handlers: ["GET": "known", "PATCH": "change"]),
    Route(path: ["things", .value("id")], handlers: ["GET": "one"]),
    Route(path: ["things", .value("id"), "parts", .value("part")], handlers: ["DELETE": "part"]),
  ])

  private func match(_ method: String, _ path: [String]) throws(ServerError) -> Table.Match {
    try Self.table.match(method, path, in: ["k1"])
  }

  private func error(_ method: String, _ path: [String]) -> ServerError? {
    do {
      _ = try match(method, path)
      return nil
    } catch {
      return error
    }
  }

  @Test func `routes with the same path are one`() throws {
    #expect(try match("GET", []).handler == "root")
    #expect(try match("GET", ["things"]).handler == "list")
    #expect(try match("POST", ["things"]).handler == "make")
  }

  @Test func `a word of the API is never a value`() throws {
    #expect(try match("GET", ["things", "new"]).handler == "form")
    #expect(try match("GET", ["things", "New"]).handler == "one")
    #expect(try match("GET", ["things", "SEARCH"]).handler == "search")
    #expect(error("DELETE", ["things", "new", "parts", "1"])?.status == 404)
  }

  @Test func `of two values the first that accepts the text has the path`() throws {
    #expect(try match("GET", ["things", "k1"]).handler == "known")
    #expect(try match("GET", ["things", "k2"]).handler == "one")
    // The first leads nowhere here.
    let part = try match("DELETE", ["things", "k1", "parts", "7"])
    #expect(part.handler == "part" && part.values["id"] == "k1" && part.values["part"] == "7")
  }

  @Test func `a path without a route is not found, and a method without a handler is not allowed`()
  {
    #expect(error("GET", ["nothing"])?.code == "NOT_FOUND")
    #expect(error("GET", ["things", "k2", "parts"])?.code == "NOT_FOUND")
    let refusal = error("PUT", ["things", "k1"])
    #expect(refusal?.status == 405 && refusal?.allowedMethods == "GET,HEAD,PATCH")
    #expect(error("GET", ["things", "k2", "parts", "7"])?.allowedMethods == "DELETE")
  }

  @Test func `HEAD is served as GET`() throws {
    #expect(try match("HEAD", ["things", "k1"]).handler == "known")
    #expect(error("HEAD", ["things", "k2", "parts", "7"])?.status == 405)
  }
}
