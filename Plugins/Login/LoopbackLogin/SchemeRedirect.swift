#if os(Linux)
  public import Foundation
  import Glibc
  import PeerSocket
  import SalesforceSDKCore
  import SalesforceSDKCommon

  /// The program that a desktop starts with the redirect of a login.
  public enum SchemeRedirect: Sendable {
    /// Passes a redirect on to the process that waits for it.
    ///
    /// - Parameters:
    ///   - url: As the desktop gave it.
    ///   - folder: The folder of the login, which the desktop gave as well.
    /// - Throws: `OAuthError` `stateMismatch` if the redirect belongs to another login, `timedOut` if no process waits any more.
    public static func deliver(_ url: String, folder: URL) async throws {
      let room = RedirectRoom(folder: folder)
      do {
        let response = try await PeerSocket.exchange(
          try room.shownToken() + Array("\n\(url)".utf8), at: room.socket)
        guard response == RedirectRoom.accepted else {
          throw OAuthError(
            .stateMismatch,
            "The redirect belongs to another login. Go back to the page of this one.")
        }
      } catch let error as OAuthError {
        throw error
      } catch {
        try Task.checkCancellation()
        throw OAuthError(
          .timedOut, "No program waits for this login any more. Start the login again.",
          cause: error)
      }
    }
  }

  /// The folder of one login: its socket and the token that the handler shows. No other user can enter it.
  struct RedirectRoom: Sendable {
    static let accepted = Array("accepted".utf8)
    private static let foreign = Array("foreign".utf8)
    /// The longest redirect: far above any code.
    private static let maxBytes = 16_384

    let folder: URL
    private let token = Base64URL.encode(RandomBytes.make(32))

    var socket: String { folder.appending(path: "redirect.sock").path }
    var tokenFile: URL { folder.appending(path: "token") }

    /// Makes a new folder, under the one of the session if there is one.
    ///
    /// - Throws: `OAuthError` `browserLaunchFailed`.
    init() throws(OAuthError) {
      let session = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"].map { URL(filePath: $0) }
      // The path of a socket has room for about a hundred bytes.
      let parent = session.flatMap {
        FileManager.default.isWritableFile(atPath: $0.path) && $0.path.utf8.count < 65 ? $0 : nil
      }
      let name = "fieldforce-\(Base64URL.encode(RandomBytes.make(9)))"
      folder = (parent ?? FileManager.default.temporaryDirectory).appending(path: name)
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        guard
          FileManager.default.createFile(
            atPath: tokenFile.path, contents: Data(token.utf8),
            attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
      } catch {
        throw OAuthError(
          .browserLaunchFailed,
          "Cannot make the folder \(folder.path) for the redirect. Log in with a loopback address.",
          cause: error)
      }
    }

    /// The folder that another process made.
    init(folder: URL) { self.folder = folder }

    /// The token that the process which waits has written.
    ///
    /// - Throws: `FileFailure`, also if another user could have made the folder: its name stands in the arguments of the handler.
    func shownToken() throws -> [UInt8] {
      try DurableFile.checkFolder(folder.path, .owner)
      guard let token = try DurableFile(tokenFile).read(maxBytes: self.token.utf8.count) else {
        throw FileFailure("opened", tokenFile.path, errno: ENOENT)
      }
      return token
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Listens for redirects with the token.
    ///
    /// - Parameter take: Whether a redirect belongs to the login.
    func listen(
      _ take: @escaping @Sendable (_ address: String) -> Bool
    ) async throws(OAuthError) -> PeerListener {
      var limits = PeerSocketLimits()
      limits.maxMessageBytes = Self.maxBytes
      let expected = Array(token.utf8)
      do {
        return try await PeerListener.start(at: socket, limits: limits) { message, _ in
          let shown = message.prefix { $0 != UInt8(ascii: "\n") }
          let isRight =
            shown.count == expected.count
            && zip(shown, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
          let address = String(
            validating: message.dropFirst(shown.count + 1), as: UTF8.self)
          guard isRight, let address else { return nil }
          return take(address) ? Self.accepted : Self.foreign
        }
      } catch {
        throw OAuthError(
          .browserLaunchFailed, "No socket could be made for the redirect: \(error.message)",
          cause: error)
      }
    }
  }
#endif
