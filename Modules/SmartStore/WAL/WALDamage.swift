import Foundation
import SalesforceSDKCommon

/// Transactions in a log that recovery will not reach.
///
/// Recovery takes the first frame that does not fit for the end of the WAL, because that is what a
/// torn write leaves. But a transaction is on disk before the next one is written: where two follow
/// such a frame, it was whole once, and what is behind it was acknowledged. The log's header is on
/// disk before any frame.
///
/// Damage to the last transaction cannot be distinguished from a torn write.
struct WALDamage: Equatable {
  /// The first frame that does not fit, counted from 1; 0 for the WAL's header.
  let frame: Int
  /// How many transactions behind it can still be read, at least.
  let transactions: Int

  /// Checks the WAL of a store that has no writer.
  ///
  /// - Returns: Nil if recovery reaches everything, or stops where a crash may have torn the WAL.
  static func find(
    in path: String, keys: StoreKeys, cipher: any StoreCipher
  ) throws(FileFailure) -> WALDamage? {
    guard DurableFile(path: path).exists else { return nil }
    var frames = FramesOnDisk(try PageFile(reading: path), keys: keys, cipher: cipher)
    try frames.readHeader()
    var expected = frames.header?.sums
    var broken = frames.header == nil ? 0 : nil
    // What the next frame of the same run may continue from.
    var ends: [WALFormat.Sums] = []
    var run = 0
    var longest = 0
    while let frame = try frames.next() {
      let isOfLog = frame.salts != nil && (frames.header.map { $0.salts == frame.salts } ?? true)
      if broken == nil, let sums = expected {
        let found = frame.isWhole ? frames.sums(after: sums) : nil
        if isOfLog, found == frame.sums {
          expected = found
          continue
        }
        broken = frame.number
        // What is left of it says where the next frame goes on, and whether it ended a transaction:
        // its page, if the rest of the header is damaged, else the other way round.
        ends = (isOfLog ? [frame.sums] : []) + [found].compactMap { $0 }
        run = frame.isCommit && ends.count == 1 ? 1 : 0
        continue
      }
      guard isOfLog, frame.isWhole else {
        (ends, run) = ([], 0)
        continue
      }
      if !ends.contains(where: { frames.sums(after: $0) == frame.sums }) { run = 0 }
      if frame.isCommit { run += 1 }
      longest = max(longest, run)
      ends = [frame.sums]
    }
    guard let broken, longest >= (frames.header == nil ? 1 : 2) else { return nil }
    return WALDamage(frame: broken, transactions: longest)
  }
}

/// The transactions in a log that recovery reaches.
struct CommittedWAL {
  /// The pages that they hold: a checkpoint is going to write these to the database.
  private(set) var pages: Set<UInt32> = []
  /// SQLite's identifier of the WAL; nil if there is no log, or its header is torn.
  private(set) var salts: UInt64?
  /// The last of the transactions.
  private(set) var end: WALAnchor.Commit?
  /// The transaction that ends with the frame that is requested for.
  private(set) var named: WALAnchor.Commit?
  /// The highest generation that a first page among the pages names.
  private(set) var generation: UInt64 = 0
  /// Whether nothing follows the last of the transactions.
  private(set) var isWhole = true

  /// Reads the WAL of a store; one that is missing is empty.
  ///
  /// - Parameters:
  ///   - start: The number of frames that a checkpoint has written to the database already.
  ///   - name: The number of the frame to look for.
  init(
    _ path: String, keys: StoreKeys, cipher: any StoreCipher, after start: Int = 0,
    naming name: Int? = nil
  ) throws(FileFailure) {
    guard DurableFile(path: path).exists else { return }
    var frames = FramesOnDisk(try PageFile(reading: path), keys: keys, cipher: cipher)
    try frames.readHeader()
    guard let header = frames.header else {
      isWhole = try DurableFile(path: path).size() == 0
      return
    }
    salts = header.salts
    var expected = header.sums
    var pending: Set<UInt32> = []
    while let frame = try frames.next() {
      isWhole = false
      guard frame.salts == header.salts, frame.isWhole,
        frames.sums(after: expected) == frame.sums
      else { return }
      expected = frame.sums
      if frame.number > start { pending.insert(frame.page) }
      generation = max(generation, frame.generation)
      guard frame.isCommit else { continue }
      isWhole = true
      let commit = WALAnchor.Commit(salts: header.salts, frames: frame.number, sums: frame.sums)
      end = commit
      if frame.number == name { named = commit }
      pages.formUnion(pending)
      pending = []
    }
  }
}

/// The frames of a log, one after another.
private struct FramesOnDisk: ~Copyable {
  /// What a frame says of itself.
  struct Frame {
    /// Counted from 1.
    let number: Int
    /// The page that it holds.
    let page: UInt32
    /// Nil if the frame names a key that the store does not have.
    let salts: UInt64?
    let sums: WALFormat.Sums
    let isCommit: Bool
    /// Whether its page is one of this store.
    let isWhole: Bool
    /// The generation that it names, if it is the first page; else 0.
    let generation: UInt64
  }

  /// The salts and checksum that the first frame goes on from; nil if the header is damaged.
  private(set) var header: (salts: UInt64, sums: WALFormat.Sums, isBigEndian: Bool)?

  private let file: PageFile
  private let encryptor: PageEncryptor
  /// The frame read last, its page in plaintext.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PageFormat.frameSize, alignment: 16)
  private var number = 0
  private var isAtEnd = false

  init(_ file: consuming PageFile, keys: StoreKeys, cipher: any StoreCipher) {
    self.file = file
    encryptor = PageEncryptor(keys: keys, cipher: cipher)
  }

  deinit { buffer.deallocate() }

  mutating func readHeader() throws(FileFailure) {
    let size = PageFormat.logHeaderSize
    guard let place = buffer.baseAddress, try file.read(size, at: 0, into: place) == size else {
      return
    }
    header = WALFormat.header(place)
  }

  /// The next frame; nil at the end. A part of one is none. Of frames that were never written, the first alone is
  /// returned: a WAL whose size was changed has any number of them.
  mutating func next() throws(FileFailure) -> Frame? {
    guard !isAtEnd, let place = buffer.baseAddress else { return nil }
    let offset = PageFormat.logHeaderSize + number * PageFormat.frameSize
    guard
      try file.read(PageFormat.frameSize, at: offset, into: encryptor.frameBytes)
        == PageFormat.frameSize
    else { return nil }
    number += 1
    place.copyMemory(from: encryptor.frameBytes, byteCount: PageFormat.frameHeaderSize)
    let isKnown =
      encryptor.pageEpoch.map { WALFormat.restoreFrame(place, key: $0.frameKey) } == true
    let page = place + PageFormat.frameHeaderSize
    let isWhole = encryptor.decrypt(number: WALFormat.pageNumber(place), into: page) != nil
    let current = number
    if WALFormat.pageNumber(place) == 0 { skipUnwritten() }
    return Frame(
      number: current, page: WALFormat.pageNumber(place),
      salts: isKnown ? WALFormat.salts(place) : nil, sums: WALFormat.sums(place),
      isCommit: WALFormat.isCommit(place), isWhole: isWhole,
      generation: isWhole && WALFormat.pageNumber(place) == 1 ? encryptor.openedGeneration : 0)
  }

  /// Continues with the next frame of which some byte was ever written.
  private mutating func skipUnwritten() {
    let offset = PageFormat.logHeaderSize + number * PageFormat.frameSize
    guard let data = file.nextData(from: offset) else {
      isAtEnd = true
      return
    }
    number = max(number, (data - PageFormat.logHeaderSize) / PageFormat.frameSize)
  }

  /// The checksum that the frame read last has if it goes on from `sums`.
  func sums(after sums: WALFormat.Sums) -> WALFormat.Sums {
    let isBigEndian = header?.isBigEndian ?? false
    let bytes = UnsafeRawBufferPointer(buffer)
    let start = WALFormat.continued(sums, over: bytes.prefix(8), isBigEndian: isBigEndian)
    return WALFormat.continued(
      start, over: bytes.dropFirst(PageFormat.frameHeaderSize), isBigEndian: isBigEndian)
  }
}
