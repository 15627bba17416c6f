public import Foundation
import SalesforceSDKCommon
import Synchronization

/// A store of values of any size, each in its own encrypted file (CO-150, SS-241).
///
/// A change is on disk when its call returns. After a crash at any time, each value is either the
/// old or the new one. Values are written and read as streams, so they can have any size. The names
/// of the files reveal nothing about the keys; their number and sizes are visible. Any number of
/// tasks and processes may use a store at once: if two of them write one key, the later one wins,
/// and a reader finishes reading the value that it started with.
///
/// ```swift
/// let store = try stores.store(named: "drafts", for: account)
/// try store.saveValue("Hello", forKey: "greeting")
/// let text = try store.readValue(forKey: "greeting")
/// ```
///
/// Errors are ``EncryptionError``. A value that cannot be read is an error and stays as it is.
/// After the folder was removed, all values are absent, and saving throws `removed`.
public final class KeyValueEncryptedFileStore: Sendable {
  /// The store's folder.
  public let url: URL
  /// The version of the layout: 2, or 1 for a store that does not list its keys.
  public var storeVersion: Int { form.withLock { $0.version } }

  /// No file with a key is longer: 64 MiB.
  private static let maxKeyFileBytes = 64 << 20

  private let form: Mutex<KeyValueFormat>
  private let folder: KeyValueFolder
  private let binding: KeyValueBinding

  /// Opens the store in a folder, and creates it if there is none.
  ///
  /// The store is bound to its folder's content alone. Stores of ``KeyValueStores`` are bound to their owner and
  /// name.
  ///
  /// - Parameter key: Encrypts the store.
  /// - Throws: ``EncryptionError`` `wrongKey`; `keyMissing` if there are values and the version file is
  ///   gone; `foreignStore` for a store of ``KeyValueStores``; `unknownFormat`, `truncated`, `inputOutput`,
  ///   `diskFull`.
  public convenience init(at url: URL, key: EncryptionKey) throws(EncryptionError) {
    try self.init(at: url, KeyValueBinding(key: key))
  }

  /// Opens the store of an owner and name in a folder, and makes it if there is none.
  init(at url: URL, _ binding: KeyValueBinding) throws(EncryptionError) {
    self.url = url
    self.binding = binding
    let bare = KeyValueFolder(url: url, isListed: true)
    let form = try Self.form(in: bare, binding)
    self.form = Mutex(form)
    folder = KeyValueFolder(url: url, isListed: form.version > 1)
    try folder.removeLeftovers()
  }

  private static func form(
    in folder: KeyValueFolder, _ binding: KeyValueBinding
  ) throws(EncryptionError) -> KeyValueFormat {
    let known = try binding.known()
    let found = try folder.mapping { () throws(FileFailure) in
      try DurableFile.checkFolder(folder.url.path)
      return try folder.versionFile.read(limit: 4096)
    }
    if let found { return try form(found, in: folder, binding, known: known) }
    let names = try folder.names()
    if names.contains(where: { $0.hasSuffix(KeyValueFormat.valueEnd) }) {
      throw EncryptionError(
        .keyMissing,
        "The key-value store at \(folder.url.path) has values, and its version file, which holds their "
          + "key, is gone. Restore it from a backup.")
    }
    if names.contains(where: { Hex.decode($0)?.count == 32 }) {
      guard known.isEmpty else { throw binding.foreign(folder.url.path) }
      return KeyValueFormat(firstVersion: try binding.formerKey())
    }
    let (form, bytes) = try KeyValueFormat.make(binding)
    let isOurs = try folder.mapping { () throws(FileFailure) in
      try DurableFile.makeOwnFolder(folder.url.path)
      return try folder.versionFile.create(bytes)
    }
    // Another process may have been faster: then its store is the one.
    guard isOurs else { return try Self.form(in: folder, binding) }
    binding.remember(form.id)
    return form
  }

  /// Reads a version file, refuses another store's, and binds the store if an older version wrote it.
  ///
  /// - Parameter known: The stores that the secret store knows under this name.
  private static func form(
    _ bytes: [UInt8], in folder: KeyValueFolder, _ binding: KeyValueBinding,
    known: [StoreRecords.Record]
  ) throws(EncryptionError) -> KeyValueFormat {
    let format = KeyValueFormat.format(of: bytes)
    guard KeyValueFormat.isBound(bytes, to: binding),
      known.isEmpty || format == 0 || format == KeyValueFormat.currentFormat
    else { throw binding.foreign(folder.url.path) }
    let form = try KeyValueFormat(bytes, binding)
    guard known.isEmpty || known.contains(where: { $0.id == form.id }) else {
      throw binding.foreign(folder.url.path)
    }
    if format < KeyValueFormat.currentFormat {
      do throws(EncryptionError) {
        try move(folder, binding)
      } catch {
        // A full disk, for one, is no reason not to open.
        CoreLogger.log.error(
          "The key-value store \(folder.url.lastPathComponent) could not be bound to its owner.",
          error: error)
        return form
      }
    }
    binding.remember(form.id)
    return form
  }

  /// Replaces a version file of an older format in one step.
  private static func move(
    _ folder: KeyValueFolder, _ binding: KeyValueBinding
  ) throws(EncryptionError) {
    try folder.whileLocked { () throws(EncryptionError) in
      let file = folder.versionFile
      let bytes = try folder.mapping { () throws(FileFailure) in try file.read(limit: 4096) }
      // Another process may have been faster.
      guard let bytes, KeyValueFormat.format(of: bytes) < KeyValueFormat.currentFormat else {
        return
      }
      let moved = try KeyValueFormat.moved(bytes, binding)
      try folder.mapping { () throws(FileFailure) in try file.replace(with: moved) }
    }
  }

  // MARK: - Saving

  /// Stores a text.
  ///
  /// - Throws: ``EncryptionError`` `emptyKey`, `removed`, `diskFull` or `inputOutput`; then the former value
  ///   stays.
  public func saveValue(_ text: String, forKey key: String) throws(EncryptionError) {
    try saveData(Array(text.utf8), forKey: key)
  }

  /// Stores bytes, which may be empty.
  ///
  /// - Throws: As ``saveValue(_:forKey:)``.
  public func saveData(_ bytes: [UInt8], forKey key: String) throws(EncryptionError) {
    try save(key) { write throws(EncryptionError) in try write(bytes) }
  }

  /// Stores the content of a file, read piece by piece.
  ///
  /// - Throws: As ``saveValue(_:forKey:)``; `inputOutput` also if the file cannot be read.
  public func saveFile(_ file: URL, forKey key: String) throws(EncryptionError) {
    let source = try folder.mapping { () throws(FileFailure) in try OpenFile.reading(file) }
    try save(key) { write throws(EncryptionError) in
      while true {
        let piece = try folder.mapping { () throws(FileFailure) in try source.read(65_536) }
        if piece.isEmpty { return }
        try write(piece)
      }
    }
  }

  /// Stores the bytes of `pieces` as they arrive. The former value stays until the last piece has arrived.
  ///
  /// - Throws: As ``saveValue(_:forKey:)``; errors of `pieces` are rethrown.
  public func saveStream<Pieces: AsyncSequence>(
    _ pieces: Pieces, forKey key: String
  ) async throws where Pieces.Element == [UInt8] {
    let writer = try ValueWriter(try checked(key), self)
    do {
      for try await piece in pieces { try writer.write(piece) }
      try writer.finish()
    } catch {
      writer.drop()
      throw error
    }
  }

  private func save(
    _ key: String,
    _ body: (_ write: ([UInt8]) throws(EncryptionError) -> Void) throws(EncryptionError) -> Void
  ) throws(EncryptionError) {
    let writer = try ValueWriter(try checked(key), self)
    do throws(EncryptionError) {
      try body { piece throws(EncryptionError) in try writer.write(piece) }
      try writer.finish()
    } catch {
      writer.drop()
      throw error
    }
  }

  // MARK: - Reading

  /// Returns a value as text; `nil` if there is none.
  ///
  /// - Throws: ``EncryptionError`` `emptyKey`, `decryptionFailed`, `truncated`, `notText`, `inputOutput`.
  public func readValue(forKey key: String) throws(EncryptionError) -> String? {
    guard let bytes = try readData(forKey: key) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw EncryptionError(.notText, "The value is not text. Read it as data.")
    }
    return text
  }

  /// Returns a value's bytes; `nil` if there is none.
  ///
  /// - Parameter maxBytes: A larger value is refused; read it as a stream. Default: 256 MB.
  /// - Throws: As ``readValue(forKey:)``; `tooLarge`.
  public func readData(
    forKey key: String, maxBytes: Int = 256 << 20
  ) throws(EncryptionError) -> [UInt8]? {
    guard let stream = try readStream(forKey: key) else { return nil }
    var reader = stream.makeReader()
    var bytes: [UInt8] = []
    while let piece = try reader.next() {
      guard bytes.count + piece.count <= maxBytes else {
        throw EncryptionError(
          .tooLarge, "The value has more than \(maxBytes) bytes. Read it as a stream.")
      }
      bytes += piece
    }
    return bytes
  }

  /// Returns a value as a stream; `nil` if there is none. The stream has the current value, even if
  /// another one is saved later.
  ///
  /// - Throws: ``EncryptionError`` `emptyKey` or `inputOutput`.
  public func readStream(forKey key: String) throws(EncryptionError) -> StoredValue? {
    let form = form.withLock { $0 }
    let name = form.valueFile(form.name(of: try checked(key)))
    guard folder.file(name).exists else { return nil }
    do throws(FileFailure) {
      return StoredValue(
        file: try OpenFile.reading(url.appending(path: name)), key: form.contentKey,
        context: form.context(name))
    } catch {
      if error.errno == ENOENT { return nil }
      throw EncryptionError(error)
    }
  }

  /// Whether there is a value.
  ///
  /// - Throws: ``EncryptionError`` `emptyKey`.
  public func contains(_ key: String) throws(EncryptionError) -> Bool {
    let form = form.withLock { $0 }
    return folder.file(form.valueFile(form.name(of: try checked(key)))).exists
  }

  // MARK: - Listing

  /// Returns all keys, in no particular order. A key whose file cannot be read is skipped and
  /// logged; its value can still be read with the key.
  ///
  /// - Throws: ``EncryptionError`` `notListed` for a store of version 1; `inputOutput`.
  public func allKeys() throws(EncryptionError) -> [String] {
    let form = form.withLock { $0 }
    guard form.version > 1 else {
      throw EncryptionError(.notListed, "A key-value store of version 1 does not list its keys.")
    }
    var keys: [String] = []
    for name in try valueNames() {
      do throws(EncryptionError) {
        if let key = try key(of: name, form) { keys.append(key) }
      } catch {
        CoreLogger.log.error(
          "a key of the store \(url.lastPathComponent) cannot be read", error: error)
      }
    }
    return keys
  }

  /// Returns the number of values, without those of unreadable keys.
  ///
  /// - Throws: As ``allKeys()``.
  public func count() throws(EncryptionError) -> Int {
    storeVersion == 1 ? try valueNames().count : try allKeys().count
  }

  /// Whether the store has no values.
  ///
  /// - Throws: As ``allKeys()``.
  public func isEmpty() throws(EncryptionError) -> Bool { try valueNames().isEmpty }

  /// The prefix of the file names of values.
  private func valueNames() throws(EncryptionError) -> [String] {
    let names = try folder.names()
    guard storeVersion > 1 else { return names.filter { Hex.decode($0)?.count == 32 } }
    return names.compactMap { name in
      name.hasSuffix(KeyValueFormat.valueEnd)
        ? String(name.dropLast(KeyValueFormat.valueEnd.count)) : nil
    }
  }

  private func key(of name: String, _ form: KeyValueFormat) throws(EncryptionError) -> String? {
    let file = name + KeyValueFormat.keyEnd
    let sealed = try folder.mapping { () throws(FileFailure) in
      try folder.file(file).read(maxBytes: Self.maxKeyFileBytes)
    }
    guard let sealed else { return nil }
    var stream = DecryptStream(key: form.contentKey, context: form.context(file))
    let bytes = try stream.update(sealed) + stream.finish()
    let key = String(decoding: bytes, as: UTF8.self)
    guard form.name(of: key) == name else {
      throw EncryptionError(.decryptionFailed, "A key stands in another's place.")
    }
    return key
  }

  // MARK: - Removing

  /// Removes a value, readable or not.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: ``EncryptionError`` `emptyKey` or `inputOutput`.
  @discardableResult
  public func removeValue(forKey key: String) throws(EncryptionError) -> Bool {
    let form = form.withLock { $0 }
    let name = form.name(of: try checked(key))
    guard folder.file(form.valueFile(name)).exists else { return false }
    return try folder.whileLocked { () throws(EncryptionError) in try remove(name, form) }
  }

  /// Removes all values, readable or not; the store stays.
  ///
  /// - Throws: ``EncryptionError`` `inputOutput`.
  public func removeAll() throws(EncryptionError) {
    guard DurableFile(url).exists else { return }
    let form = form.withLock { $0 }
    try folder.whileLocked { () throws(EncryptionError) in
      for name in try valueNames() { try remove(name, form) }
      // Keys whose value never came.
      for name in try folder.names() where name.hasSuffix(KeyValueFormat.keyEnd) {
        try folder.mapping { () throws(FileFailure) in try folder.file(name).remove() }
      }
    }
  }

  @discardableResult
  private func remove(_ name: String, _ form: KeyValueFormat) throws(EncryptionError) -> Bool {
    let value = folder.file(form.valueFile(name))
    let existed = value.exists
    // The value is what counts: without it the key is nothing.
    try folder.mapping { () throws(FileFailure) in
      try value.remove()
      try folder.file(name + KeyValueFormat.keyEnd).remove()
    }
    return existed
  }

  // MARK: - Keys

  /// Encrypts the store with another key: one small file is replaced, no value is written (CO-151). Other
  /// processes that have the store open can continue to use it.
  ///
  /// - Throws: ``EncryptionError`` `wrongKey` if `old` is not the store's key; `removed`; `notListed` for
  ///   a store of version 1, whose values have no key of their own; `inputOutput`, `diskFull`.
  public func changeEncryptionKey(
    from old: EncryptionKey, to new: EncryptionKey
  ) throws(EncryptionError) {
    guard storeVersion > 1 else {
      throw EncryptionError(
        .notListed, "A key-value store of version 1 cannot change its key. Copy its values.")
    }
    let file = folder.versionFile
    try folder.whileLocked { () throws(EncryptionError) in
      let bytes = try folder.mapping { () throws(FileFailure) in try file.read(limit: 4096) }
      guard let bytes else {
        throw EncryptionError(
          .removed, "The key-value store at \(url.path) was removed. Open it again.")
      }
      let rewrapped = try KeyValueFormat.rewrap(bytes, from: old, to: new, binding)
      try folder.mapping { () throws(FileFailure) in try file.replace(with: rewrapped) }
    }
  }

  private func checked(_ key: String) throws(EncryptionError) -> String {
    guard !key.isEmpty else { throw EncryptionError(.emptyKey, "The key of a value is empty.") }
    return key
  }

  /// Writes one value: the key first, which alone is nothing, then the value.
  private final class ValueWriter {
    private let store: KeyValueEncryptedFileStore
    private let form: KeyValueFormat
    private let key: String
    private let name: String
    private let draft: KeyValueFolder.Draft
    private var stream: EncryptStream

    init(_ key: String, _ store: KeyValueEncryptedFileStore) throws(EncryptionError) {
      self.store = store
      self.key = key
      form = store.form.withLock { $0 }
      name = form.name(of: key)
      let file = form.valueFile(name)
      draft = try store.folder.draft(of: file)
      stream = EncryptStream(key: form.contentKey, context: form.context(file))
    }

    func write(_ piece: [UInt8]) throws(EncryptionError) { try put(stream.update(piece), draft) }

    func finish() throws(EncryptionError) {
      try put(stream.finish(), draft)
      try store.folder.whileLocked { () throws(EncryptionError) in
        if form.version > 1 { try writeKey() }
        try store.folder.keep(draft)
      }
    }

    func drop() { draft.drop() }

    private func writeKey() throws(EncryptionError) {
      let file = name + KeyValueFormat.keyEnd
      guard !store.folder.file(file).exists else { return }
      let draft = try store.folder.draft(of: file)
      do throws(EncryptionError) {
        var stream = EncryptStream(key: form.contentKey, context: form.context(file))
        try put(stream.update(Array(key.utf8)) + stream.finish(), draft)
        try store.folder.keep(draft)
      } catch {
        draft.drop()
        throw error
      }
    }

    private func put(
      _ bytes: [UInt8], _ draft: KeyValueFolder.Draft
    ) throws(EncryptionError) {
      try store.folder.mapping { () throws(FileFailure) in try draft.file.write(bytes) }
    }
  }
}
