import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SecretService

/// The possible keepers of a state folder's master key, as in `--secrets`: names separated by
/// commas.
struct KeeperChoice: ExpressibleByArgument {
  /// One keeper.
  enum Keeper: Equatable {
    case file, secretService, passphrase
    case passphraseFile(Int32)
    case credential(String)

    init(parsing text: some StringProtocol) throws {
      let kind = text.prefix { $0 != ":" }
      let value = String(text.dropFirst(kind.count + 1))
      switch String(kind) {
      case "file" where kind == text: self = .file
      case "secret-service" where kind == text: self = .secretService
      case "passphrase" where kind == text: self = .passphrase
      case "passphrase-fd" where (Int32(value) ?? -1) >= 0:
        self = .passphraseFile(Int32(value) ?? 0)
      case "credential" where !value.isEmpty: self = .credential(value)
      default:
        throw CommandFailure(
          "unknownKeeper",
          "'\(text)' keeps no keys. Give file, secret-service, passphrase, passphrase-fd:N or credential:NAME."
        )
      }
    }

    /// The name that a folder records. A passphrase is the same keeper wherever it comes from.
    var name: String {
      switch self {
      case .file: "file"
      case .secretService: "secret-service"
      case .passphrase, .passphraseFile, .credential: "passphrase"
      }
    }

    /// The source of the passphrase.
    ///
    /// - Parameter isNew: Whether it becomes the passphrase of a key, and has to be typed twice.
    func source(isNew: @escaping @Sendable () -> Bool) -> Passphrase {
      switch self {
      case .passphraseFile(let number): .fileDescriptor(number)
      case .credential(let name): .credential(name)
      case .file, .secretService, .passphrase: .terminal(isNew: isNew)
      }
    }
  }

  /// In the order of `--secrets`; empty if nothing was named.
  let named: [Keeper]

  /// The files in which keepers may have the key.
  static let files = ["master.key", "master.sealed"]

  /// The files of which one is left where a folder has had a key: those, and the record of what keeps it.
  static let records = files + ["keys.json"]

  /// The default: the file for new folders, and the recorded keeper for others.
  init(_ named: [Keeper] = []) { self.named = named }

  init(parsing text: String) throws {
    named = try text.split(separator: ",", omittingEmptySubsequences: false)
      .map { try Keeper(parsing: $0) }
    guard Set(named.map(\.name)).count == named.count else {
      throw CommandFailure("unknownKeeper", "'\(text)' names a keeper twice. Name each once.")
    }
  }

  init?(argument: String) {
    guard let choice = try? KeeperChoice(parsing: argument) else { return nil }
    self = choice
  }

  /// The master key of a folder, which the named keepers may have.
  func key(of folder: URL) throws -> KeptMasterKey {
    let chosen = named.isEmpty ? [.file] : named
    var others: [Keeper] = [.file, .passphrase]
    // Its item has the name of the installation, which is made when it is first needed.
    let record = try KeyRecord(in: folder)
    if [record?.keeper, record?.leaving].contains(Keeper.secretService.name) {
      others.append(.secretService)
    }
    others.removeAll { other in chosen.contains { $0.name == other.name } }
    return KeptMasterKey(
      in: folder, keepers: try chosen.map { try Self.keeper($0, of: folder) },
      others: try others.map { try Self.keeper($0, of: folder) })
  }

  /// The same, after a move that was interrupted has been completed.
  ///
  /// - Parameter isReadOnly: Whether such a move is left as it is: at each moment, the recorded keeper has the key.
  func openKey(of folder: URL, isReadOnly: Bool = false) throws -> KeptMasterKey {
    let key = try key(of: folder)
    if let keeper = try key.keeperName(), !named.isEmpty,
      !named.contains(where: { $0.name == keeper })
    {
      throw CommandFailure(
        "otherKeeper",
        "The keys of \(folder.path) are kept by '\(keeper)', not by what --secrets names. Leave --secrets out, or move "
          + "them with 'fieldforce keys move'.")
    }
    if isReadOnly { return key }
    do throws(SecretStoreError) {
      try key.finishMove()
    } catch {
      Console.say("warning: a move of the keys is not complete: \(error)")
    }
    return key
  }

  static func keeper(_ keeper: Keeper, of folder: URL) throws -> any MasterKeyKeeper {
    switch keeper {
    case .file: return KeyFile(folder.appending(path: files[0]))
    case .passphrase, .passphraseFile, .credential: return sealedFile(keeper, of: folder)
    case .secretService: return try secretService(of: folder)
    }
  }

  static func sealedFile(_ keeper: Keeper, of folder: URL) -> SealedKeyFile {
    let file = folder.appending(path: files[1])
    return SealedKeyFile(
      file, passphrase: keeper.source { !FileManager.default.fileExists(atPath: file.path) })
  }

  /// The name of what keeps the master key of a folder, without reading the key; nil if there is none.
  static func keeperName(of folder: URL) throws -> String? {
    if let record = try KeyRecord(in: folder) { return record.keeper }
    let names = [Keeper.file.name, Keeper.passphrase.name]
    return zip(files, names).first { DurableFile(folder.appending(path: $0.0)).exists }?.1
  }

  /// The file in which a folder's key is, or was; nil if another keeper than a file has it.
  static func keyFile(of folder: URL) throws -> URL? {
    switch try keeperName(of: folder) {
    case nil, Keeper.file.name: folder.appending(path: files[0])
    case Keeper.passphrase.name: folder.appending(path: files[1])
    default: nil
    }
  }

  /// Returns the secret service's item of a state folder, identified by its installation's name.
  private static func secretService(of folder: URL) throws -> StoredMasterKey {
    StoredMasterKey(
      "secret-service",
      in: SecretServiceStore(
        application: "fieldforce", label: "Fieldforce keys of \(folder.path)",
        lock: folder.appending(path: "secret-service.lock")),
      as: SecretName(
        service: "master-key", account: try InstallationId.load(in: folder)))
  }
}

extension Passphrase {
  /// A passphrase that the person at the terminal types; it is not shown.
  static func terminal(isNew: @escaping @Sendable () -> Bool) -> Passphrase {
    Passphrase { () throws(SecretStoreError) in
      let text = try typed("Passphrase of the keys: ")
      // With a slip of the finger in it, the keys could never be read again.
      if isNew(), try typed("The new passphrase once more: ") != text {
        throw SecretStoreError(.missingPassphrase, "The two passphrases differ. Try again.")
      }
      return text
    }
  }

  private static func typed(_ prompt: String) throws(SecretStoreError) -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1, let text = getpass(prompt) else {
      throw SecretStoreError(
        .missingPassphrase,
        "The keys are behind a passphrase, and there is no terminal to request it. Give --secrets passphrase-fd:N or "
          + "credential:NAME.")
    }
    return Array(String(cString: text).utf8)
  }
}
