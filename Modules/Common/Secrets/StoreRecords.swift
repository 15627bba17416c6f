/// The secret store's record of the encrypted stores of one user, or of the app.
///
/// The files of a store cannot say that they were exchanged all together. So the secret store, which takes its
/// own key to write, keeps the identifier of each store and the format of its key file by the store's name. A
/// path is no part of it: folders of apps move.
package struct StoreRecords: Sendable {
  /// An encrypted store that was made or opened.
  package struct Record: Sendable, Equatable {
    /// The identifier in the store's files.
    package let id: [UInt8]
    /// The format of its key file; no older one is accepted afterwards.
    package let format: Int

    package init(id: [UInt8], format: Int) {
      self.id = id
      self.format = format
    }
  }

  private let secrets: any SecretStore
  private let name: SecretName

  /// The most identifiers that are kept of one name: folders that are removed by hand and made again leave
  /// theirs behind.
  private static let limit = 64

  /// - Parameter name: The secret that keeps the records: one for each user.
  package init(_ secrets: any SecretStore, name: SecretName) {
    self.secrets = secrets
    self.name = name
  }

  /// The stores of this name, the newest last; none if none was ever encrypted.
  package func records(of store: String) throws(SecretStoreError) -> [Record] {
    guard let bytes = try secrets.read(name) else { return [] }
    return Self.records(in: try parse(bytes)[store])
  }

  /// Whether no store of the user is remembered.
  package func isEmpty() throws(SecretStoreError) -> Bool {
    guard let bytes = try secrets.read(name) else { return true }
    return try parse(bytes).isEmpty
  }

  /// Stores a record, and replaces one with the same identifier. Writes nothing if the record is
  /// unchanged.
  package func remember(_ record: Record, of store: String) throws(SecretStoreError) {
    if try records(of: store).contains(record) { return }
    try secrets.update(name) { bytes throws(SecretStoreError) in
      var stores = try bytes.map { bytes throws(SecretStoreError) in try parse(bytes) } ?? [:]
      let others = Self.records(in: stores[store]).filter { $0.id != record.id }
      stores[store] = .array(
        (others + [record]).suffix(Self.limit).map {
          ["id": .string(Hex.encode($0.id)), "format": .integer(Int64($0.format))]
        })
      return Self.bytes(of: stores)
    }
  }

  /// Deletes the records of stores with this name.
  package func forget(_ store: String) throws(SecretStoreError) {
    guard try !records(of: store).isEmpty else { return }
    try secrets.update(name) { bytes throws(SecretStoreError) in
      guard let bytes else { return nil }
      var stores = try parse(bytes)
      stores[store] = nil
      return stores.isEmpty ? nil : Self.bytes(of: stores)
    }
  }

  /// Deletes the records of all stores of the user.
  package func forgetAll() throws(SecretStoreError) { try secrets.remove(name) }

  /// Parts of a name as bytes to authenticate: each with its length, so that no two lists have the same bytes.
  package static func context(of parts: [String]) -> [UInt8] {
    parts.reduce(into: [UInt8(parts.count)]) { bytes, part in
      withUnsafeBytes(of: UInt32(part.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
      bytes += part.utf8
    }
  }

  private func parse(_ bytes: [UInt8]) throws(SecretStoreError) -> JSONObject {
    guard let json = try? JSONSlice(parsing: bytes), json["version"]?.int64 == 1,
      let stores = json["stores"]?.value.object
    else {
      throw SecretStoreError(
        .corrupt,
        "The secret '\(name)', which lists the encrypted stores, cannot be read. Restore the secret store "
          + "from a backup.")
    }
    return stores
  }

  private static func records(in list: JSONValue?) -> [Record] {
    (list?.array ?? []).compactMap { item in
      guard let id = item["id"]?.string.flatMap({ Hex.decode($0) }),
        let format = item["format"]?.int64
      else { return nil }
      return Record(id: id, format: Int(format))
    }
  }

  private static func bytes(of stores: JSONObject) -> [UInt8] {
    Array(JSONValue.object(["version": 1, "stores": .object(stores)]).text.utf8)
  }
}
