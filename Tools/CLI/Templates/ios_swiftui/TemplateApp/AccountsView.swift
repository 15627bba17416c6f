import SwiftUI

/// The accounts, with a button that syncs them.
struct AccountsView: View {
  let model: AccountsModel

  var body: some View {
    NavigationStack {
      List(model.names, id: \.self) { Text($0) }
        .navigationTitle("Accounts")
        .refreshable { await model.sync() }
        .overlay {
          if let message = model.message { ContentUnavailableView(message, systemImage: "tray") }
        }
    }
  }
}
