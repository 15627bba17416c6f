#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import Synchronization

/// The source of a passphrase, which is read once, when it is first needed, and then kept in
/// memory.
///
/// A line feed at the end is ignored, so files that editors and `echo` write are accepted.
public final class Passphrase: Sendable {
  /// The most bytes that a passphrase may have: 4,096.
  public static let maxBytes = 4_096
  /// The fewest bytes that a new passphrase may have: 8.
  public static let minBytes = 8

  private let source: @Sendable () throws(SecretStoreError) -> [UInt8]
  private let held = Mutex<SecretPage?>(nil)

  /// Creates a source that requests a passphrase from the caller, such as a prompt.
  ///
  /// - Parameter read: Called once unless it throws.
  public init(_ read: @escaping @Sendable () throws(SecretStoreError) -> [UInt8]) { source = read }

  /// Returns a passphrase that is read from an open file descriptor up to its end. Child processes
  /// do not inherit the descriptor, unless it is one of the three standard ones.
  public static func fileDescriptor(_ number: Int32) -> Passphrase {
    if number > 2 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return Passphrase { () throws(SecretStoreError) in
      try Self.contents(of: number, named: "file descriptor \(number)")
    }
  }

  /// Returns a passphrase that systemd passes to a service: `LoadCredential=NAME:…` or
  /// `LoadCredentialEncrypted=`.
  ///
  /// - Parameter folder: Default: the environment's `CREDENTIALS_DIRECTORY`.
  public static func credential(_ name: String, in folder: String? = nil) -> Passphrase {
    Passphrase { () throws(SecretStoreError) in
      guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0")
      else {
        throw SecretStoreError(
          .missingPassphrase, "'\(name)' is no name of a credential. Give one without a slash.")
      }
      guard
        let folder = folder ?? ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"],
        folder.hasPrefix("/")
      else {
        throw SecretStoreError(
          .missingPassphrase,
          "There is no credential '\(name)': CREDENTIALS_DIRECTORY is not set. Start the program as a systemd "
            + "service with LoadCredential=.")
      }
      let path = "\(folder)/\(name)"
      let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
      guard file >= 0 else {
        throw SecretStoreError(
          .missingPassphrase,
          "The credential \(path) cannot be opened: \(String(cString: strerror(errno))). Name it in LoadCredential=."
        )
      }
      defer { close(file) }
      var status = stat()
      guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw SecretStoreError(.missingPassphrase, "The credential \(path) is no regular file.")
      }
      // systemd owns its files itself and gives access to the user of the service.
      guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o007 == 0 else {
        throw SecretStoreError(
          .exposedKeyFile,
          "The credential \(path) belongs to another user, or every user may read it. Set mode 0400 and try again."
        )
      }
      return try Self.contents(of: file, named: path)
    }
  }

  /// The passphrase.
  ///
  /// - Parameter isNew: Whether a key is going to be encrypted with it.
  func bytes(isNew: Bool) throws(SecretStoreError) -> [UInt8] {
    let bytes = try read()
    guard !isNew || bytes.count >= Self.minBytes else {
      throw SecretStoreError(
        .weakPassphrase,
        "The passphrase has fewer than \(Self.minBytes) bytes. Give a longer one: it is all that protects the key."
      )
    }
    return bytes
  }

  private func read() throws(SecretStoreError) -> [UInt8] {
    if let page = held.withLock({ $0 }) { return page.bytes }
    var bytes = try source()
    if bytes.last == 0x0a { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.count <= Self.maxBytes else {
      throw SecretStoreError(
        .missingPassphrase,
        bytes.isEmpty
          ? "The passphrase is empty. Give one."
          : "A passphrase has at most \(Self.maxBytes) bytes.")
    }
    let page = SecretPage(bytes)
    held.withLock { $0 = page }
    return bytes
  }

  /// The bytes up to the end, which may be one byte too many.
  private static func contents(
    of file: Int32, named name: String
  ) throws(SecretStoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: maxBytes + 2)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        systemRead(file, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw SecretStoreError(
          .missingPassphrase,
          "The passphrase cannot be read from \(name): \(String(cString: strerror(errno))). Open it for reading."
        )
      }
      if count == 0 { break }
      done += count
    }
    return Array(bytes[..<done])
  }
}

// Inside the type the name is its own method.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}
