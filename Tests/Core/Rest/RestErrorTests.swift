import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-118, CO-125, CO-126: responses, and what is wrong with them.
@Suite struct RestErrorTests {
  private func client(
    _ answer: @escaping @Sendable (TransportRequest) async throws -> RestResponse
  ) async throws -> RestClient {
    let org = TestOrg(answer)
    let transport = org.transport()
    return RestClient(
      account: org.account(), accounts: try await org.manager(transport: transport),
      transport: transport, options: .init(retries: .never))
  }

  @Test(.covers("CO-125.1", "CO-118"))
  func `a refusal carries status, body and the server's faults`() async throws {
    let body =
      #"[{"errorCode":"INVALID_FIELD","message":"No such column 'Secret__c'","fields":["Secret__c"]}]"#
    let client = try await client { _ in RestResponse(status: 400, json: body) }
    let error = try #require(
      await #expect(throws: RestError.self) { try await client.send(.query("SELECT Secret__c")) })
    #expect(error.code == .server(400))
    #expect(error.number == 400)
    #expect(RestError.domain == "com.salesforce.RestAPI.ErrorDomain")
    #expect(text(error.body) == body)
    #expect(
      error.serverErrors == [
        .init(
          errorCode: "INVALID_FIELD", message: "No such column 'Secret__c'", fields: ["Secret__c"])
      ])
    #expect(error.message.contains("INVALID_FIELD"))
    #expect(!error.description.contains("Secret__c"))
    #expect(try await client.response(to: .limits()).status == 400)
  }

  @Test(
    .covers("CO-125.1"),
    arguments: [
      (300, #"["/a","/b"]"#), (304, ""), (403, "Bad"), (404, "<html>"), (412, "[]"), (500, "null"),
      (503, #"{"error":"unavailable","error_description":"later"}"#),
    ])
  func `every status outside 200 to 299 is its own code`(
    status: Int, body: String
  ) async throws {
    let client = try await client { _ in
      RestResponse(status: status, body: Array(body.utf8))
    }
    let error = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(error?.code == .server(status))
    #expect(error?.code.isRetryable == (status == 503))
    #expect(error?.serverErrors.count == (status == 503 ? 1 : 0))
  }

  @Test(
    .covers("CO-125.2", "BX-36"),
    arguments: [
      (TransportError.Code.unreachable, RestError.Code.unreachable, true),
      (.timedOut, .timedOut, true), (.truncated, .truncated, true), (.tooLarge, .tooLarge, false),
      (.insecureURL, .insecureURL, false), (.malformed, .malformedResponse, false),
    ])
  func `a transport's failure keeps its kind and its cause`(
    below: TransportError.Code, code: RestError.Code, isNetwork: Bool
  ) async throws {
    let cause = URLError(.notConnectedToInternet)
    let client = try await client { _ in throw TransportError(below, "no", cause: cause) }
    let error = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(error?.code == code)
    #expect(error?.number == 999)
    #expect(error?.code.isNetworkFailure == isNetwork)
    #expect((error?.cause as? URLError)?.code == .notConnectedToInternet)
  }

  @Test(.covers("CO-126", "CO-118"))
  func `a response is read as JSON or as a type, or says why not`() throws {
    struct Page: Decodable { let totalSize: Int }
    let page = RestResponse(status: 200, body: Array(#"{"totalSize":2}"#.utf8))
    #expect(try page.json()["totalSize"]?.int64 == 2)
    #expect(try page.decode(as: Page.self).totalSize == 2)
    #expect(page.text == #"{"totalSize":2}"#)
    func code(_ body: String) -> RestError.Code? {
      #expect(throws: RestError.self) {
        try RestResponse(status: 200, body: Array(body.utf8)).decode(as: Page.self)
      }?.code
    }
    #expect(code("") == .emptyResponse)
    #expect(code("<html>") == .malformedResponse)
    #expect(code(#"{"totalSize":2"#) == .malformedResponse)
    #expect(code(#"{"totalSize":"2"}"#) == .malformedResponse)
    #expect(RestResponse(status: 204).isSuccess)
  }

  @Test(.covers("BX-36"))
  func `cancellation passes unwrapped`() async throws {
    let client = try await client { _ in throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await client.send(.limits()) }
  }
}
