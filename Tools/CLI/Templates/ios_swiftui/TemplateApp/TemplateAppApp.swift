import SwiftUI

// Never built: see README.md.
@main
struct TemplateAppApp: App {
  @State private var model = AccountsModel()

  var body: some Scene {
    WindowGroup {
      AccountsView(model: model)
        .task { await model.start() }
    }
  }
}
