public import IdentityProviderURLs
public import Foundation
import PeerSocket
import SalesforceSDKCommon

/// A way to the other app: a socket, or URLs of its scheme.
public protocol IdentityCarrier: Sendable {
  /// Sends a command to the other app.
  ///
  /// - Returns: The other app's response; nil if there is none, or if it comes as a URL of this app's scheme.
  /// - Throws: ``IdentityLoginError`` `absent`, `foreignPeer`, `refused`, `malformed`; `CancellationError`.
  func send(_ url: IdentityURL) async throws -> IdentityURL?
}

/// The socket on which an app receives commands.
public struct IdentitySocket: IdentityCarrier {
  /// The file of the socket, in a folder that only this user can enter.
  public let path: String
  /// The programs that may listen there; empty: any program of this user.
  public let executables: Set<String>

  /// Names the socket at a path.
  public init(path: String, executables: Set<String> = []) {
    self.path = path
    self.executables = executables
  }

  /// Names the socket `NAME.sock` in the folder `XDG_RUNTIME_DIR` of the environment, which belongs to the session of this user.
  ///
  /// - Parameter name: The name of the app that listens, such as its URL scheme.
  /// - Throws: ``IdentityLoginError`` `notListening` without such a folder.
  public init(
    app name: String, executables: Set<String> = [],
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(IdentityLoginError) {
    guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else {
      throw IdentityLoginError(
        .notListening,
        "The environment names no XDG_RUNTIME_DIR for the socket of \(name). Set it, or give the path."
      )
    }
    self.init(path: "\(folder)/\(name).sock", executables: executables)
  }

  public func send(_ url: IdentityURL) async throws -> IdentityURL? {
    let bytes: [UInt8]
    do {
      bytes = try await PeerSocket.exchange(Array(url.text.utf8), at: path) { peer in
        executables.isEmpty || IdentityPeer(peer).runs(oneOf: executables)
      }
    } catch let error as PeerSocketError {
      throw IdentityLoginError(error)
    }
    if bytes.isEmpty { return nil }
    guard let text = String(validating: bytes, as: UTF8.self),
      let response = try? IdentityURL(parsing: text)
    else {
      throw IdentityLoginError(
        .malformed, "The process that listens at \(path) sent a response that is no command.")
    }
    return response
  }
}

/// URLs of the other app's scheme, which the system opens with that app.
public struct SchemeURLs: IdentityCarrier {
  private let open: @Sendable (_ url: String) async throws -> Void

  /// - Parameter open: Opens a URL, as `xdg-open` does. Every user of the machine sees the arguments of programs; a command
  ///   holds a code, which is of use only together with the verifier that this process keeps.
  public init(open: @escaping @Sendable (_ url: String) async throws -> Void) {
    self.open = open
  }

  public func send(_ url: IdentityURL) async throws -> IdentityURL? {
    do {
      try await open(url.text)
      return nil
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw IdentityLoginError(
        .absent, "No app could be opened for the scheme \(url.scheme). Install it.", cause: error)
    }
  }
}

extension IdentityLoginError {
  init(_ error: PeerSocketError) {
    let code: Code =
      switch error.code {
      case .absent: .absent
      case .foreignPeer: .foreignPeer
      case .refused: .refused
      case .tooLong, .broken: .malformed
      default: .notListening
      }
    self.init(code, error.message, cause: error.cause)
  }
}
