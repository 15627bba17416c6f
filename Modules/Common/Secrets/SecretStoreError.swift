/// An error while reading or storing a secret.
///
/// No error means that the secret is absent: reading an absent secret returns nil. So a caller that
/// creates a new key only after nil never replaces a key that still protects data.
public struct SecretStoreError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case locked, authenticationFailed, corrupt, missingMasterKey, exposedKeyFile, tooLarge
      case unknownFormat, inputOutput, noSessionBus, noCollection, otherKeeper, occupied
      case missingPassphrase, weakPassphrase, damaged
    }
    private let kind: Kind
    /// The store is locked, or another process holds it for long. Retrying later helps.
    public static let locked = Code(kind: .locked)
    /// The master key or the passphrase is not the one that the store was created with. Pass the
    /// right one.
    public static let authenticationFailed = Code(kind: .authenticationFailed)
    /// The bytes of this secret, of the store's header or of the key file are damaged. Restore them
    /// from a backup, or remove the secret.
    public static let corrupt = Code(kind: .corrupt)
    /// The secret was written, but its record was removed, exchanged or damaged since; the other secrets
    /// are readable. Restore the store from a backup, or write or remove the secret.
    public static let damaged = Code(kind: .damaged)
    /// Secrets exist, but the file of the master key is missing. Restore it from a backup.
    public static let missingMasterKey = Code(kind: .missingMasterKey)
    /// Other users of the machine may read, change or replace the key file. Remove that permission,
    /// then retry.
    public static let exposedKeyFile = Code(kind: .exposedKeyFile)
    /// The secret is larger than ``FileSecretStore/maxSecretBytes``.
    public static let tooLarge = Code(kind: .tooLarge)
    /// The file was written by a newer version. Update the program.
    public static let unknownFormat = Code(kind: .unknownFormat)
    /// The system refused to read or write; the message has its reason. Retrying may help.
    public static let inputOutput = Code(kind: .inputOutput)

    /// The desktop's secret service cannot be reached: there is no session bus, as on a server, or
    /// the bus has no such service. The secrets did not change. Log in to the desktop session, then
    /// retry.
    public static let noSessionBus = Code(kind: .noSessionBus)
    /// The secret service has no default collection. Create one, then retry.
    public static let noCollection = Code(kind: .noCollection)
    /// The master key is kept by a keeper that the program does not use. Name that keeper, or move the key.
    public static let otherKeeper = Code(kind: .otherKeeper)
    /// The keeper to move a key to already has another key. Nothing was replaced.
    public static let occupied = Code(kind: .occupied)
    /// The passphrase could not be read. Provide it, then retry.
    public static let missingPassphrase = Code(kind: .missingPassphrase)
    /// A new passphrase is too short. Give a longer one.
    public static let weakPassphrase = Code(kind: .weakPassphrase)

    /// The name of the code, such as `locked`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its file and the remedy; never a secret.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error; the compiler fills in the last two arguments.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// The error for a failed step of work on a file.
  init(_ failure: FileFailure, fileID: String = #fileID, line: Int = #line) {
    self.init(.inputOutput, "\(failure).", cause: failure, fileID: fileID, line: line)
  }

  /// Whether the store may be unlocked by then.
  public var isRetryable: Bool { code == .locked }
}
