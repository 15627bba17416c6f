import Foundation
import SalesforceSDKCommon

/// Transactions in a log that recovery will not reach.
///
/// Recovery reads the first invalid frame as the end of the WAL, because a torn write leaves such a
/// frame. But a transaction is on disk before the next one is written. So if two transactions
/// follow an invalid frame, the frame was valid once, and the transactions after it were
/// acknowledged. The log's header is on disk before any frame.
///
/// Damage to the last transaction cannot be distinguished from a torn write.
struct WALDamage: Equatable {
  /// The first invalid frame, counted from 1; 0 for the WAL's header.
  let frame: Int
  /// The minimum number of transactions after it that can still be read.
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
    // The checksums from which the next frame of the same sequence may continue.
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
        // The intact part of the frame shows where the next frame continues, and whether it ended a
        // transaction: the page, if the rest of the header is damaged, or the header, if the page
        // is.
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
  /// The pages in them, which a checkpoint will write to the database.
  private(set) var pages: Set<UInt32> = []
  /// SQLite's identifier of the WAL; nil if there is no log, or its header is torn.
  private(set) var salts: UInt64?
  /// The last of the transactions.
  private(set) var end: WALAnchor.Commit?
  /// The transaction that ends with the requested frame.
  private(set) var named: WALAnchor.Commit?
  /// The highest generation in a first page among the pages.
  private(set) var generation: UInt64 = 0
  /// Whether nothing follows the last of the transactions.
  private(set) var isWhole = true

  /// Reads the WAL of a store; a missing WAL is empty.
  ///
  /// - Parameters:
  ///   - start: The number of frames that a checkpoint has already written to the database.
  ///   - name: The number of the requested frame.
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

/// A sequence of the frames of a log.
private struct FramesOnDisk: ~Copyable {
  /// The content of a frame.
  struct Frame {
    /// The number of the frame, counted from 1.
    let number: Int
    /// The number of its page.
    let page: UInt32
    /// The salts; nil if the frame was encrypted with a key that the store does not have.
    let salts: UInt64?
    let sums: WALFormat.Sums
    let isCommit: Bool
    /// Whether its page is one of this store.
    let isWhole: Bool
    /// The generation in it, if it is the first page; else 0.
    let generation: UInt64
  }

  /// The salts and checksum from which the first frame continues; nil if the header is damaged.
  private(set) var header: (salts: UInt64, sums: WALFormat.Sums, isBigEndian: Bool)?

  private let file: PageFile
  private let encryptor: PageEncryptor
  /// The frame read last, with its page in plaintext.
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

  /// Returns the next frame; nil at the end, also at an incomplete frame. Of consecutive frames
  /// that were never written only the first is returned, because a WAL whose size was changed may
  /// have any number of them.
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

  /// Skips to the next frame with a written byte.
  private mutating func skipUnwritten() {
    let offset = PageFormat.logHeaderSize + number * PageFormat.frameSize
    guard let data = file.nextData(from: offset) else {
      isAtEnd = true
      return
    }
    number = max(number, (data - PageFormat.logHeaderSize) / PageFormat.frameSize)
  }

  /// Returns the checksum that the frame read last has if it continues from `sums`.
  func sums(after sums: WALFormat.Sums) -> WALFormat.Sums {
    let isBigEndian = header?.isBigEndian ?? false
    let bytes = UnsafeRawBufferPointer(buffer)
    let start = WALFormat.continued(sums, over: bytes.prefix(8), isBigEndian: isBigEndian)
    return WALFormat.continued(
      start, over: bytes.dropFirst(PageFormat.frameHeaderSize), isBigEndian: isBigEndian)
  }
}
