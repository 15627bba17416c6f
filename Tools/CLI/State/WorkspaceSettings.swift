import Foundation
import SalesforceSDKCommon

/// Whether the stores of a state folder are encrypted.
///
/// The file `settings.json` says it in readable form: `{"version": 1, "encryption": "encrypted" | "plaintext"}`.
/// Every program that can write files can change it, so only the secret store decides: once it has recorded that
/// the stores are encrypted, no file makes a store plaintext.
struct WorkspaceSettings {
  let isPlaintext: Bool

  private static let secret = SecretName(service: "fieldforce.encryption")
  private static let fileName = "settings.json"
  /// No such file is longer.
  private static let maxBytes = 4_096

  /// Finds out how the stores are kept, and decides it for a new folder.
  ///
  /// - Parameters:
  ///   - wantsPlaintext: Whether the command was given `--plaintext`.
  ///   - isReadOnly: Whether nothing is decided for a new folder, and nothing written.
  static func open(
    in folder: URL, secrets: some SecretStore, wantsPlaintext: Bool, isReadOnly: Bool = false
  ) throws -> WorkspaceSettings {
    // Nothing is decided or changed without the record: a wrong passphrase ends every command here.
    let isEncrypted = try isRemembered(in: secrets, of: folder)
    guard let noted = try note(in: folder) else {
      try checkNotLost(in: folder)
      if isReadOnly { return WorkspaceSettings(isPlaintext: wantsPlaintext && !isEncrypted) }
      if wantsPlaintext, !isEncrypted {
        try checkSecrets(in: folder)
        try write(isPlaintext: true, in: folder)
        return WorkspaceSettings(isPlaintext: true)
      }
      // The secret store comes first: a folder with its record needs no file.
      try remember(in: secrets)
      try write(isPlaintext: false, in: folder)
      return try encrypted(in: folder, wantsPlaintext)
    }
    switch (noted, isEncrypted) {
    case (.encrypted, true): return try encrypted(in: folder, wantsPlaintext)
    case (.encrypted, false):
      // Earlier versions noted it in the file alone. Where the secret store is missing none is made.
      if !isReadOnly, holdsSecrets(folder, keyFile: false) { try remember(in: secrets) }
      return try encrypted(in: folder, wantsPlaintext)
    case (.plaintext, true):
      throw CommandFailure(
        "changedSettings",
        "\(folder.appending(path: fileName).path) says that the stores are plaintext, but they are encrypted: "
          + "the file was changed or is another folder's. Delete it. The next command writes it again."
      )
    case (.plaintext, false):
      try checkSecrets(in: folder)
      guard wantsPlaintext || !holdsSecrets(folder) else {
        throw CommandFailure(
          "plaintextState",
          "The stores in \(folder.path) are plaintext. Give --plaintext with every command"
            + (holdsSealedFiles(folder)
              ? ", if you made the folder so; if not, restore it from a backup."
              : ", or encrypt them with 'fieldforce store encrypt'."))
      }
      return WorkspaceSettings(isPlaintext: true)
    }
  }

  /// Records permanently that the stores of a plaintext folder are encrypted from now on.
  static func didEncrypt(_ folder: URL, secrets: some SecretStore) throws {
    try write(isPlaintext: false, in: folder)
    try remember(in: secrets)
  }

  /// Refuses to encrypt files in a folder of encrypted stores: a plaintext store there is a foreign one.
  static func checkPlaintext(_ folder: URL, secrets: some SecretStore) throws {
    guard try secrets.read(secret) == nil, try note(in: folder) == .plaintext else {
      throw CommandFailure(
        "encryptedState", "The stores in \(folder.path) are encrypted already, or there are none.")
    }
    try checkSecrets(in: folder)
  }

  /// Refuses plaintext where the key of a secret store is left, and not the secret store, which alone could say
  /// whether the stores were encrypted.
  private static func checkSecrets(in folder: URL) throws {
    let secrets = folder.appending(path: FileSecretStore.fileName)
    let keys = KeeperChoice.records.first { DurableFile(folder.appending(path: $0)).exists }
    guard let keys, !DurableFile(secrets).exists else { return }
    throw CommandFailure(
      "missingSecrets",
      "\(secrets.path) is missing, though \(keys) is there, so the stores are not taken for plaintext. Restore it "
        + "from a backup; if there never was one, delete \(keys).")
  }

  /// Refuses to treat a folder as new if its secret store is missing but encrypted data is left:
  /// new secrets could not decrypt it.
  static func checkNotLost(in folder: URL) throws {
    guard !holdsSecrets(folder), holdsSealedFiles(folder) else { return }
    throw CommandFailure(
      "missingSecrets",
      "The accounts or stores in \(folder.path) are encrypted, but master.key and \(FileSecretStore.fileName) are "
        + "missing. Restore both from a backup, or choose another folder with --state.")
  }

  /// Whether the folder has account files, or key files of encrypted stores.
  private static func holdsSealedFiles(_ folder: URL) -> Bool {
    let names: Set = ["UserAccount.sealed", "store.key"]
    return ["accounts", "stores"].contains { name in
      let paths = try? FileManager.default.subpathsOfDirectory(
        atPath: folder.appending(path: name).path)
      return paths?.contains {
        names.contains($0.split(separator: "/").last.map(String.init) ?? "")
      } == true
    }
  }

  private enum Note { case encrypted, plaintext }

  /// The content of the file; nil if there is none.
  private static func note(in folder: URL) throws -> Note? {
    let file = folder.appending(path: fileName)
    guard DurableFile(file).exists else { return nil }
    let bytes = (try? DurableFile(file).read(maxBytes: maxBytes)) ?? nil
    switch bytes.flatMap({ try? JSONSlice(parsing: $0) })?["encryption"]?.string {
    case "plaintext": return .plaintext
    case "encrypted": return .encrypted
    default:
      throw CommandFailure(
        "unreadableSettings",
        "\(file.path) does not say how the stores are kept. Restore the file, or delete it if the stores are "
          + "encrypted.")
    }
  }

  private static func encrypted(
    in folder: URL, _ wantsPlaintext: Bool
  ) throws -> WorkspaceSettings {
    guard !wantsPlaintext else {
      throw CommandFailure(
        "encryptedState",
        "The stores in \(folder.path) are encrypted; --plaintext is only for a folder that was made with it."
      )
    }
    return WorkspaceSettings(isPlaintext: false)
  }

  /// Whether the folder has a secret store, and with it something to protect.
  private static func holdsSecrets(_ folder: URL, keyFile: Bool = true) -> Bool {
    let names = [FileSecretStore.fileName] + (keyFile ? KeeperChoice.files : [])
    return names.contains { DurableFile(folder.appending(path: $0)).exists }
  }

  /// Whether the secret store has recorded that the stores are encrypted.
  private static func isRemembered(
    in secrets: some SecretStore, of folder: URL
  ) throws -> Bool {
    do throws(SecretStoreError) {
      return try secrets.read(secret) != nil
    } catch {
      // The error names the folder alone; the person looks for a file.
      guard error.code == .missingMasterKey, let file = try KeeperChoice.keyFile(of: folder) else {
        throw error
      }
      throw CommandFailure(
        "\(error.code)",
        "\(file.path) is missing, and with it the key of the accounts and stores. Restore it from a backup."
      )
    }
  }

  private static func remember(in secrets: some SecretStore) throws {
    if try secrets.read(secret) == nil { try secrets.write(Array("encrypted".utf8), for: secret) }
  }

  private static func write(isPlaintext: Bool, in folder: URL) throws {
    let settings: JSONValue = [
      "version": 1, "encryption": isPlaintext ? "plaintext" : "encrypted",
    ]
    do throws(FileFailure) {
      try DurableFile(folder.appending(path: fileName)).replace(with: Array(settings.text.utf8))
    } catch {
      throw CommandFailure("file", "\(error). Check the folder of --state.")
    }
  }
}
