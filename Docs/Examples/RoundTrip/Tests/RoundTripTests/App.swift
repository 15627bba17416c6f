import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Stands for the app under test.
struct App {
  private struct Page: Decodable {
    struct Account: Decodable { let Name: String }
    let records: [Account]
  }

  let instance: String
  let token: String

  func accountNames() async throws -> [String] {
    let path = "/services/data/v66.0/query?q=SELECT+Name+FROM+Account"
    var request = URLRequest(url: try #require(URL(string: instance + path)))
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    let (data, _) = try await URLSession.shared.data(for: request)
    return try JSONDecoder().decode(Page.self, from: data).records.map(\.Name)
  }
}
