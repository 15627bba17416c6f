import SalesforceMockOrg
import Testing

@Test func `the app shows the accounts`() async throws {
  try await withMockOrg { org, server in
    try await org.load(plan: MockOrg.samplePlan)
    // Your app's own client: tell it where the org is, and give it a token that is good already.
    let app = App(instance: server.info.instanceUrl, token: server.info.accessToken)
    #expect(try await app.accountNames().count == 5)
    #expect(org.requestLog.first?.path == "/services/data/v66.0/query")
  }
}
