#if os(Linux)
  import Foundation
  import PostgresAccounts
  import SalesforceSDKCommon
  import SalesforceSDKCore

  /// One of the processes of a service that share a session.
  ///
  /// `PostgresAccountsChild ADDRESS KEY ROUNDS` refreshes the current user's token that many times and prints each
  /// access token; it ends with 1 at the first error.
  @main
  struct PostgresAccountsChild {
    static func main() async throws {
      let arguments = CommandLine.arguments
      guard arguments.count == 4, let bytes = Data(base64Encoded: arguments[2]),
        let key = EncryptionKey(Array(bytes)), let rounds = Int(arguments[3])
      else {
        FileHandle.standardError.write(Data("wrong arguments\n".utf8))
        exit(2)
      }
      do {
        let accounts = try await UserAccountManager(
          persister: try await PostgresAccountPersister(address: arguments[1], key: key),
          transport: URLSessionTransport())
        guard let user = await accounts.current?.identity else { exit(1) }
        for _ in 0..<rounds {
          let account = try await accounts.refresh(user)
          FileHandle.standardOutput.write(
            Data("\(account.credentials.accessToken ?? "none")\n".utf8))
        }
        await accounts.close()
      } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
      }
    }
  }
#else
  /// The processes of a service run on Linux.
  @main
  struct PostgresAccountsChild {
    static func main() {}
  }
#endif
