import Synchronization

/// The operations that a disk received, in order.
final class DiskRecorder: Sendable {
  /// What happened to one file, or to the session.
  enum Event: Sendable {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)
    case sync
    case remove
    /// The caller of the store got its response: so many steps are acknowledged. The last of them is
    /// on disk, and with it all before it, if it `isDurable`.
    case acknowledged(Int, isDurable: Bool)
  }

  private let kept = Mutex<[(path: String, event: Event)]>([])

  /// All events so far.
  var events: [(path: String, event: Event)] { kept.withLock { $0 } }

  /// Keeps an event.
  func add(_ event: Event, to path: String) {
    kept.withLock { $0.append((path, event)) }
  }
}

/// What a disk holds when the power fails: of each file what was synced, and any part of what was
/// written since.
struct DiskState {
  /// One file.
  struct File {
    /// What was synced; nil if the file is not known to the disk yet.
    var durable: [UInt8]?
    /// What was written since, in order.
    var pending: [DiskRecorder.Event] = []
  }

  /// How much of what was not synced reaches the disk.
  enum Luck: CaseIterable, Sendable {
    case nothing, everything
    /// Each sector of 512 bytes for itself: torn and reordered.
    case someSectors
    case allButOne, onlyOne
  }

  private static let sector = 512

  private(set) var files: [String: File]
  /// How many steps were acknowledged.
  private(set) var acknowledged = 0
  /// How many of these must be on disk.
  private(set) var durable = 0

  /// A disk on which these files are safe.
  init(_ files: [String: [UInt8]]) {
    self.files = files.mapValues { File(durable: $0) }
  }

  /// What is not on the disk for sure.
  var pendingCount: Int { files.values.reduce(0) { $0 + $1.pending.count } }

  mutating func apply(_ event: DiskRecorder.Event, to path: String) {
    switch event {
    case .acknowledged(let count, let isDurable):
      acknowledged = count
      if isDurable { durable = count }
    case .sync:
      var file = files[path, default: File()]
      var bytes = file.durable
      for change in file.pending { Self.apply(change, to: &bytes) }
      file = File(durable: bytes ?? [])
      files[path] = file
    default:
      files[path, default: File()].pending.append(event)
    }
  }

  /// The files after the power failed; those that do not exist are left out.
  func image(_ luck: Luck, using random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    var image: [String: [UInt8]] = [:]
    let chosen = pendingCount > 0 ? Int.random(in: 0..<pendingCount, using: &random) : 0
    var number = 0
    for (path, file) in files.sorted(by: { $0.key < $1.key }) {
      var bytes = file.durable
      for change in file.pending {
        switch luck {
        case .nothing: break
        case .everything: Self.apply(change, to: &bytes)
        case .allButOne: if number != chosen { Self.apply(change, to: &bytes) }
        case .onlyOne: if number == chosen { Self.apply(change, to: &bytes) }
        case .someSectors: Self.applyPart(of: change, to: &bytes, using: &random)
        }
        number += 1
      }
      image[path] = bytes
    }
    return image
  }

  static func apply(_ change: DiskRecorder.Event, to bytes: inout [UInt8]?) {
    switch change {
    case .write(let offset, let new):
      var content = bytes ?? []
      if content.count < offset + new.count {
        content += [UInt8](repeating: 0, count: offset + new.count - content.count)
      }
      content.replaceSubrange(offset..<offset + new.count, with: new)
      bytes = content
    case .truncate(let size):
      if let content = bytes, content.count > size { bytes = Array(content.prefix(size)) }
      if let content = bytes, content.count < size {
        bytes = content + [UInt8](repeating: 0, count: size - content.count)
      }
    case .remove:
      bytes = nil
    case .sync, .acknowledged:
      break
    }
  }

  /// Applies some sectors of a write, or all or nothing of any other change.
  static func applyPart(
    of change: DiskRecorder.Event, to bytes: inout [UInt8]?,
    using random: inout some RandomNumberGenerator
  ) {
    guard case .write(let offset, let new) = change else {
      if Bool.random(using: &random) { apply(change, to: &bytes) }
      return
    }
    var start = offset
    while start < offset + new.count {
      let end = min((start / sector + 1) * sector, offset + new.count)
      if Bool.random(using: &random) {
        let part = Array(new[start - offset..<end - offset])
        apply(.write(offset: start, bytes: part), to: &bytes)
      }
      start = end
    }
  }
}
