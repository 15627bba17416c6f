import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The form of a secret store's file.
///
/// | bytes | header |
/// | --- | --- |
/// | 8 | `FFSECRET` |
/// | 1 | version, 2; a file of version 1 has no list |
/// | 1 | how keys are derived from the master key, 1: HKDF-SHA256 with the salt |
/// | 2 | zero |
/// | 32 | salt |
/// | 28 | an empty text sealed with the record key: tells whether the master key is the right one |
/// | 8 | start of the SHA-256 of the bytes above: tells damage from a wrong key |
///
/// The list of the records follows (``SecretList``):
///
/// | bytes | list |
/// | --- | --- |
/// | 4 | `FFsl` |
/// | 4 | length n of the sealed part, least byte first |
/// | n | nonce 12, sealed list, tag 16; bound to the salt |
///
/// Records follow in any order:
///
/// | bytes | record |
/// | --- | --- |
/// | 4 | `FFsr` |
/// | 4 | length n of the sealed part, least byte first |
/// | 4 | start of the SHA-256 of mark, length and tag: the next record is found behind damage |
/// | 16 | tag, start of the HMAC-SHA256 of the name: tells whose the record is without showing it |
/// | n | nonce 12, sealed name and secret, tag 16; bound to the salt and the tag |
struct SecretFile {
  /// A record as it is in the file.
  struct Record: Equatable {
    let tag: [UInt8]
    let sealed: [UInt8]
  }

  static let headerLength = 80
  private static let magic = Array("FFSECRET".utf8)
  private static let mark = Array("FFsr".utf8)
  private static let listMark = Array("FFsl".utf8)
  private static let frameLength = 28

  private let masterKey: MasterKey
  private let salt: [UInt8]
  private let header: [UInt8]
  private let recordKey: SymmetricKey
  private let nameKey: SymmetricKey
  private(set) var records: [Record] = []
  /// The list, which says for each tag which record is the right one; nil in a file of version 1.
  private var list: SecretList?
  /// Records that the list does not name, or names with another content. They are kept, and give no secret.
  private var strays: [Record] = []
  /// Bytes that are not a record. In a file without a complete list, the secrets in them are unknown.
  private(set) var debris: [UInt8] = []

  /// An empty file under a new salt.
  ///
  /// - Parameter version: Default: the present one. Only tests write another.
  init(masterKey: MasterKey, version: UInt8 = 2) throws(SecretStoreError) {
    self.masterKey = masterKey
    salt = RandomBytes.make(32)
    recordKey = Self.derive("secrets", masterKey, salt)
    nameKey = Self.derive("names", masterKey, salt)
    let start = Self.magic + [version, 1, 0, 0] + salt
    let check = try Self.seal([], with: recordKey, binding: start)
    let body = start + check
    header = body + Digests.sha256(body).prefix(8)
    list = version == 1 ? nil : SecretList()
  }

  /// Reads a file's bytes.
  init(_ bytes: [UInt8], masterKey: MasterKey, path: String) throws(SecretStoreError) {
    guard bytes.count >= Self.headerLength, bytes.starts(with: Self.magic) else {
      throw SecretStoreError(
        .corrupt, "\(path) is no secret store, or its start is lost. Restore it from a backup.")
    }
    header = Array(bytes.prefix(Self.headerLength))
    guard (1...2).contains(header[8]), header[9] == 1 else {
      throw SecretStoreError(
        .unknownFormat, "\(path) was written by a newer version. Update this program.")
    }
    guard Digests.sha256(Array(header.prefix(72))).prefix(8) == header.suffix(8) else {
      throw SecretStoreError(
        .corrupt, "The header of \(path) is damaged. Restore the file from a backup.")
    }
    self.masterKey = masterKey
    salt = Array(header[12..<44])
    recordKey = Self.derive("secrets", masterKey, salt)
    nameKey = Self.derive("names", masterKey, salt)
    guard Self.open(Array(header[44..<72]), with: recordKey, binding: Array(header[..<44])) != nil
    else {
      throw SecretStoreError(
        .authenticationFailed,
        "\(path) was made with another master key. Give the one it was made with.")
    }
    var start = Self.headerLength
    if header[8] == 2 {
      if let (found, end) = Self.list(in: bytes, at: start, key: recordKey, salt: salt) {
        list = found
        start = end
        readRecords(bytes, from: start)
        let all = records
        var seen: Set<[UInt8]> = []
        records = []
        for record in all {
          if found.digests[record.tag] != SecretList.digest(of: record.sealed) {
            strays.append(record)
          } else if seen.insert(record.tag).inserted {
            records.append(record)
          }
        }
      } else {
        // The records are authentic, but there may have been others.
        readRecords(bytes, from: start)
        var rest = SecretList()
        rest.isComplete = false
        for record in records { rest.digests[record.tag] = SecretList.digest(of: record.sealed) }
        list = rest
      }
    } else {
      readRecords(bytes, from: start)
    }
  }

  /// The list that starts at `at`, and its end; nil if it is damaged.
  private static func list(
    in bytes: [UInt8], at: Int, key: SymmetricKey, salt: [UInt8]
  ) -> (SecretList, end: Int)? {
    let start = at + 8
    guard start <= bytes.count, bytes[at..<(at + 4)].elementsEqual(listMark) else { return nil }
    let end = start + Int(number(bytes[(at + 4)..<start]))
    guard end <= bytes.count,
      let plain = open(Array(bytes[start..<end]), with: key, binding: listMark + salt),
      let list = SecretList(plain)
    else { return nil }
    return (list, end)
  }

  private mutating func readRecords(_ bytes: [UInt8], from start: Int) {
    var at = start
    while at < bytes.count {
      if let end = recordEnd(bytes, at) {
        records.append(
          Record(
            tag: Array(bytes[(at + 12)..<(at + Self.frameLength)]),
            sealed: Array(bytes[(at + Self.frameLength)..<end])))
        at = end
      } else {
        debris.append(bytes[at])
        at += 1
      }
    }
  }

  /// The end of the record that starts at `at`; nil if none starts there.
  private func recordEnd(_ bytes: [UInt8], _ at: Int) -> Int? {
    guard at + Self.frameLength <= bytes.count, bytes[at..<(at + 4)].elementsEqual(Self.mark)
    else { return nil }
    let length = Self.number(bytes[(at + 4)..<(at + 8)])
    let tag = bytes[(at + 12)..<(at + Self.frameLength)]
    guard bytes[at..<(at + 12)].elementsEqual(Self.frame(length: length, tag: tag)) else {
      return nil
    }
    let end = at + Self.frameLength + Int(length)
    return end <= bytes.count ? end : nil
  }

  /// The bytes before a record's tag.
  private static func frame(length: UInt32, tag: ArraySlice<UInt8>) -> [UInt8] {
    let start = mark + bytes(of: length)
    return start + Digests.sha256(start + tag).prefix(4)
  }

  /// The whole file.
  ///
  /// - Throws: ``SecretStoreError`` `inputOutput` if the list cannot be sealed.
  func bytes() throws(SecretStoreError) -> [UInt8] {
    var bytes = header
    if let list {
      let sealed = try Self.seal(
        list.bytes, with: recordKey, binding: Self.listMark + salt)
      bytes += Self.listMark + Self.bytes(of: UInt32(sealed.count)) + sealed
    }
    for record in records + strays {
      bytes += Self.frame(length: UInt32(record.sealed.count), tag: record.tag[...])
      bytes += record.tag
      bytes += record.sealed
    }
    return bytes + debris
  }

  /// The file in the present version. One of version 1 stays as it is while something in it cannot
  /// be read: under the new salt, a backup could not bring that back.
  func upgraded() throws(SecretStoreError) -> SecretFile {
    guard list == nil, debris.isEmpty else { return self }
    var new = try SecretFile(masterKey: masterKey)
    for record in records {
      guard let (name, secret) = contents(of: record) else { return self }
      _ = try new.set(secret, for: name)
    }
    return new
  }

  /// The secret of a name; nil if there is none.
  ///
  /// - Throws: ``SecretStoreError`` `damaged` if the list names it, or may have named it, and its record is
  ///   not there as it was written; in a file of version 1, `corrupt` if its record is damaged, or is not
  ///   found while there is debris that may have been it.
  func secret(_ name: SecretName, path: String) throws(SecretStoreError) -> [UInt8]? {
    let tag = tag(of: name)
    guard let record = records.first(where: { $0.tag == tag }) else {
      if let list {
        guard list.isComplete, list.digests[tag] == nil, !strays.contains(where: { $0.tag == tag })
        else {
          throw SecretStoreError(
            .damaged,
            "The record of '\(name)' in \(path) was removed, exchanged or damaged. Restore the file "
              + "from a backup, or write the secret again.")
        }
        return nil
      }
      guard debris.isEmpty else {
        throw SecretStoreError(
          .corrupt,
          "\(path) is damaged and '\(name)' may be among what was lost. Restore the file from a "
            + "backup, or write the secret again.")
      }
      return nil
    }
    guard let (found, secret) = contents(of: record), found == name else {
      throw SecretStoreError(
        list == nil ? .corrupt : .damaged,
        "The record of '\(name)' in \(path) is damaged. Restore the file from a backup, or write "
          + "the secret again.")
    }
    return secret
  }

  /// The names of the records that can be read.
  var names: [SecretName] { records.compactMap { contents(of: $0)?.name } }

  /// Replaces the secret of a name; nil removes it.
  ///
  /// - Returns: Whether there was a record.
  mutating func set(_ secret: [UInt8]?, for name: SecretName) throws(SecretStoreError) -> Bool {
    let tag = tag(of: name)
    let place = records.firstIndex { $0.tag == tag }
    let existed =
      place != nil || list?.digests[tag] != nil || strays.contains { $0.tag == tag }
    guard let secret else {
      if let place { records.remove(at: place) }
      list?.digests[tag] = nil
      strays.removeAll { $0.tag == tag }
      return existed
    }
    let text = Self.text(of: name)
    let plain = Self.bytes(of: UInt32(text.count)) + text + secret
    let record = Record(
      tag: tag, sealed: try Self.seal(plain, with: recordKey, binding: salt + tag))
    if let place { records[place] = record } else { records.append(record) }
    list?.digests[tag] = SecretList.digest(of: record.sealed)
    strays.removeAll { $0.tag == tag }
    return existed
  }

  /// Drops what cannot be read and returns how many pieces that were.
  mutating func dropDamaged() -> Int {
    let readable = records.filter { contents(of: $0) != nil }
    let tags = Set(readable.map(\.tag))
    var lost = Set((records + strays).map(\.tag)).subtracting(tags)
    var count = 0
    if var list {
      lost.formUnion(list.digests.keys.filter { !tags.contains($0) })
      if !list.isComplete { count += 1 }
      list.isComplete = true
      list.digests = list.digests.filter { tags.contains($0.key) }
      self.list = list
      // What is left of the bytes of a record counts with it.
      if !debris.isEmpty, lost.isEmpty, count == 0 { count = 1 }
    } else if !debris.isEmpty {
      count = 1
    }
    // Other contents of a secret that can be read.
    count += strays.count { tags.contains($0.tag) }
    records = readable
    strays = []
    debris = []
    return count + lost.count
  }

  private func contents(of record: Record) -> (name: SecretName, secret: [UInt8])? {
    guard let plain = Self.open(record.sealed, with: recordKey, binding: salt + record.tag),
      plain.count >= 4
    else { return nil }
    let length = Int(Self.number(plain[..<4]))
    guard length <= plain.count - 4, let name = Self.name(Array(plain[4..<(4 + length)])) else {
      return nil
    }
    return (name, Array(plain[(4 + length)...]))
  }

  private func tag(of name: SecretName) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: Self.text(of: name), using: nameKey).prefix(16))
  }

  /// A name as a JSON array, in which a missing part is null.
  private static func text(of name: SecretName) -> [UInt8] {
    let parts = [name.group, name.service, name.account]
    return Array(JSONValue.array(parts.map { $0.map { .string($0) } ?? .null }).text.utf8)
  }

  private static func name(_ text: [UInt8]) -> SecretName? {
    guard let parts = try? JSONSlice(parsing: text).value.array, parts.count == 3,
      let service = parts[1].string
    else { return nil }
    return SecretName(service: service, account: parts[2].string, group: parts[0].string)
  }

  // MARK: Cipher

  private static func derive(_ use: String, _ key: MasterKey, _ salt: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key.bytes), salt: salt,
      info: Array("fieldforce secret store \(use)".utf8), outputByteCount: 32)
  }

  private static func seal(
    _ plain: [UInt8], with key: SymmetricKey, binding context: [UInt8]
  ) throws(SecretStoreError) -> [UInt8] {
    do {
      let box = try AES.GCM.seal(plain, using: key, authenticating: context)
      return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    } catch {
      throw SecretStoreError(.inputOutput, "The secret could not be sealed.", cause: error)
    }
  }

  private static func open(
    _ sealed: [UInt8], with key: SymmetricKey, binding context: [UInt8]
  ) -> [UInt8]? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let plain = try? AES.GCM.open(box, using: key, authenticating: context)
    else { return nil }
    return Array(plain)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func bytes(of number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}
