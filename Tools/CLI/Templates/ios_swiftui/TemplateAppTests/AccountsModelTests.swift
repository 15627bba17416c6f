import Testing

@testable import TemplateApp

// Never built: see README.md.
@Suite @MainActor struct AccountsModelTests {
  @Test func `without a user the app says so`() async {
    let model = AccountsModel()
    await model.start()
    #expect(model.names.isEmpty && model.message != nil)
  }
}
