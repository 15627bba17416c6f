import Dispatch
import GRDB
import GRDBSQLite

/// Opens the pages that a walk through the database comes to next, on a thread other than the one that walks.
///
/// An index is built by a walk through its whole table, and a table that is larger than the page cache is
/// read again for each of them. Opening a page takes longer than SQLite needs to look through it, while
/// a second processor has nothing to do.
///
/// It lives for one transaction. In that, SQLite asks the file only for pages that have no newer version in
/// the WAL, and no connection writes those: whenever such a page is read, it is the same. All others that were
/// opened here are never asked for.
final class ReadAhead {
  /// How many pages in a row, with small gaps, make a walk.
  private static let leastRun = 16
  private static let greatestGap: UInt32 = 4

  /// How many windows are opened ahead: enough that neither thread waits when the other is held up.
  private static let windowCount = 8

  private let opener: PageOpener
  /// A ring of windows in a row, and the one that is being looked through.
  private let windows: [PageWindow]
  private var current = 0
  /// The page behind the last window; 0 while nothing is read ahead.
  private var end: UInt32 = 0
  /// The page that was requested last.
  private var last: UInt32 = 0
  private var run = 0

  fileprivate init(_ file: EncryptedFile.State) {
    opener = PageOpener(file)
    windows = (0..<Self.windowCount).map { _ in PageWindow() }
  }

  /// Copies page `number` to `buffer` if it was opened before; false if it must be read.
  func take(_ number: UInt32, into buffer: UnsafeMutableRawPointer) -> Bool {
    let isNext = number > last && number - last <= Self.greatestGap
    last = number
    if number >= windows[current].first, number < end {
      var distance = Int(number - windows[current].first) / PageWindow.size
      // The page of a branch lies far from those of its leaves: it is no reason to leave those.
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

  /// Has the pages behind the last window opened in another one.
  private func fill(_ window: PageWindow) {
    window.fill(from: end, opener)
    end = window.end
  }

  /// Waits until nothing is read any more.
  fileprivate func finish() { opener.queue.sync {} }
}

/// Reads and opens pages on a queue of its own.
///
/// `@unchecked Sendable` because only work on the queue uses its memory, and SQLite's files can be read by
/// several threads: each read names its place.
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

  /// Opens the pages from `first` on into `plaintext`, as many as it has room for.
  ///
  /// - Returns: Which of them could be opened: the others are behind the file's end, or in the WAL alone.
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

/// Some opened pages in a row.
///
/// `@unchecked Sendable` because what is filled on a queue is looked at after that was waited for.
private final class PageWindow: @unchecked Sendable {
  /// How many pages are read at once: 256 KiB.
  static let size = 64

  private let plaintext = UnsafeMutableRawBufferPointer.allocate(
    byteCount: size * PageFormat.pageSize, alignment: 16)
  private var isOpen: [Bool] = []
  private let filling = DispatchGroup()
  /// The first page; 0 before the first filling.
  private(set) var first: UInt32 = 0

  deinit { plaintext.deallocate() }

  /// The page behind the last one.
  var end: UInt32 { first + UInt32(Self.size) }

  /// Has the pages from `first` on opened.
  func fill(from first: UInt32, _ opener: PageOpener) {
    self.first = first
    opener.queue.async(group: filling) {
      self.isOpen = opener.open(from: first, into: self.plaintext)
    }
  }

  /// Copies a page that the window contains; false if it could not be opened.
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
  /// Runs `work`, one transaction that walks through whole tables, with their pages read ahead. A plaintext
  /// store has none to open.
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
