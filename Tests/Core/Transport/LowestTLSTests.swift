import Foundation
import HTTPTypes
import SalesforceSDKCore
import Testing

/// Which versions of TLS does a request offer?
@Suite struct LowestTLSTests {
  /// The versions in the extension of a client's first message that lists them.
  private func versions(in record: [UInt8]) throws -> [Int] {
    var rest = record[...]
    func take(_ count: Int) throws -> [UInt8] {
      try #require(rest.count >= count)
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    func number(_ count: Int) throws -> Int { try take(count).reduce(0) { $0 << 8 | Int($1) } }
    // Header of the record, of the message, version and random.
    _ = try take(5 + 4 + 2 + 32)
    _ = try take(number(1))
    _ = try take(number(2))
    _ = try take(number(1))
    _ = try number(2)
    while !rest.isEmpty {
      let kind = try number(2)
      let content = try take(number(2))
      guard kind == 43 else { continue }
      return stride(from: 1, to: content.count - 1, by: 2).map {
        Int(content[$0]) << 8 | Int(content[$0 + 1])
      }
    }
    return []
  }

  @Test func `no version of TLS before 1.2 is offered`() async throws {
    let transport = URLSessionTransport()
    let record = try await SocketServer.firstRecord { port in
      guard let url = URL(string: "https://127.0.0.1:\(port)/") else { return }
      _ = try? await transport.send(TransportRequest(method: .get, url: url))
    }
    let versions = try versions(in: record)
    #expect(versions.contains(0x0303))
    #expect(versions.allSatisfy { $0 >= 0x0303 }, "\(versions)")
  }
}
