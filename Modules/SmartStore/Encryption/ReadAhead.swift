import Dispatch
import GRDB
import GRDBSQLite

/// A read-ahead that decrypts the next pages of a walk through the database on a second thread.
///
/// Building an index walks through its whole table, and a table that is larger than the page cache
/// is read again for each index. Decrypting a page takes longer than SQLite needs to process it,
/// while a second processor is idle.
///
/// A read-ahead exists for one transaction. Within it, SQLite reads from the file only pages that
/// have no newer version in the WAL, and no connection writes those, so they do not change. SQLite
/// never requests any other page that was decrypted here.
/// opened here are never asked for.
final class ReadAhead {
  /// The number of consecutive pages, with small gaps, that count as a walk.
  private static let leastRun = 16
  private static let greatestGap: UInt32 = 4

  /// The number of windows that are decrypted ahead, enough that neither thread waits if the other
  /// is delayed.
  private static let windowCount = 8

  private let opener: PageOpener
  /// A ring of consecutive windows, and the current one.
  private let windows: [PageWindow]
  private var current = 0
  /// The page after the last window; 0 while nothing is read ahead.
  private var end: UInt32 = 0
  /// The page that was requested last.
  private var last: UInt32 = 0
  private var run = 0

  fileprivate init(_ file: EncryptedFile.State) {
    opener = PageOpener(file)
    windows = (0..<Self.windowCount).map { _ in PageWindow() }
  }

  /// Copies page `number` to `buffer` if it was decrypted already; returns false if it must be
  /// read.
  func take(_ number: UInt32, into buffer: UnsafeMutableRawPointer) -> Bool {
    let isNext = number > last && number - last <= Self.greatestGap
    last = number
    if number >= windows[current].first, number < end {
      var distance = Int(number - windows[current].first) / PageWindow.size
      // An inner page of the tree is far from its leaves, but the walk continues with the leaves.
      while isNext, distance > 0 {
        fill(windows[current])
        current = (current + 1) % windows.count
        distance -= 1
      }
      return windows[(current + distance) % windows.count].copy(number, to: buffer)
    }
    run = isNext ? run + 1 : 0
    if run == Self.leastRun {
      end = number + 1
      current = 0
      for window in windows { fill(window) }
    }
    return false
  }

  /// Decrypts the pages after the last window into another window.
  private func fill(_ window: PageWindow) {
    window.fill(from: end, opener)
    end = window.end
  }

  /// Waits until no read is running.
  fileprivate func finish() { opener.queue.sync {} }
}

/// A queue that reads and decrypts pages.
///
/// `@unchecked Sendable` because only work on the queue uses its memory, and several threads can
/// read SQLite's files: each read has its own offset.
private final class PageOpener: @unchecked Sendable {
  let queue = DispatchQueue(label: "SmartStore.readAhead")
  private let file: EncryptedFile.State
  private let encryptor: PageEncryptor
  private let sealed = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PageWindow.size * PageFormat.pageSize, alignment: 16)

  init(_ file: EncryptedFile.State) {
    self.file = file
    let store = file.connection.store
    encryptor = PageEncryptor(keys: store.keys, cipher: store.cipher)
  }

  deinit { sealed.deallocate() }

  /// Decrypts the pages from `first` on into `plaintext`, up to its size.
  ///
  /// - Returns: Whether each page could be decrypted. The others are after the file's end, or only
  ///   in the WAL.
  func open(from first: UInt32, into plaintext: UnsafeMutableRawBufferPointer) -> [Bool] {
    guard let read = file.methods.xRead, let source = sealed.baseAddress,
      let target = plaintext.baseAddress
    else { return [] }
    let place = Int64(first - 1) * Int64(PageFormat.pageSize)
    let code = read(file.base, source, Int32(sealed.count), place)
    guard code == SQLITE_OK || code == StoreIOError.shortRead else { return [] }
    return (0..<PageWindow.size).map { index in
      let offset = index * PageFormat.pageSize
      encryptor.pageBytes.copyMemory(from: source + offset, byteCount: PageFormat.pageSize)
      return encryptor.decrypt(number: first + UInt32(index), into: target + offset) != nil
    }
  }
}

/// A range of consecutive decrypted pages.
///
/// `@unchecked Sendable` because memory that is filled on a queue is read only after waiting for
/// the queue.
private final class PageWindow: @unchecked Sendable {
  /// The number of pages that are read at once: 256 KiB.
  static let size = 64

  private let plaintext = UnsafeMutableRawBufferPointer.allocate(
    byteCount: size * PageFormat.pageSize, alignment: 16)
  private var isOpen: [Bool] = []
  private let filling = DispatchGroup()
  /// The first page; 0 before the first filling.
  private(set) var first: UInt32 = 0

  deinit { plaintext.deallocate() }

  /// The page after the last one.
  var end: UInt32 { first + UInt32(Self.size) }

  /// Starts decrypting the pages from `first` on.
  func fill(from first: UInt32, _ opener: PageOpener) {
    self.first = first
    opener.queue.async(group: filling) {
      self.isOpen = opener.open(from: first, into: self.plaintext)
    }
  }

  /// Copies a page of the window; returns false if it could not be decrypted.
  func copy(_ number: UInt32, to buffer: UnsafeMutableRawPointer) -> Bool {
    filling.wait()
    let index = Int(number - first)
    guard index < isOpen.count, isOpen[index], let source = plaintext.baseAddress else {
      return false
    }
    buffer.copyMemory(
      from: source + index * PageFormat.pageSize, byteCount: PageFormat.pageSize)
    return true
  }
}

extension Database {
  /// Runs `work`, one transaction that walks through whole tables, and reads their pages ahead. A
  /// plaintext store has none to decrypt.
  func readingAhead<T>(_ work: () throws -> T) rethrows -> T {
    guard let file = StoreConnection.sealedFile(of: self) else { return try work() }
    let readAhead = ReadAhead(file)
    file.connection.readAhead = readAhead
    defer {
      file.connection.readAhead = nil
      readAhead.finish()
    }
    return try work()
  }
}
