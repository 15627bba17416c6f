import Foundation
import Testing

@testable import SmartStoreTests

/// What reached the disk, as `FaultyFiles.h` writes it down.
struct DiskRecord {
  enum Event {
    case write(file: UInt64, offset: Int, bytes: [UInt8])
    case truncate(file: UInt64, size: Int)
    case sync(UInt64)
    case make(UInt64, path: String, isFolder: Bool)
    case rename(String, to: String)
    case link(String, to: String)
    case remove(String)
    /// A step of the session was acknowledged.
    case acknowledged(Int)

    /// Whether a file is made, renamed or removed.
    var changesNames: Bool {
      switch self {
      case .make, .rename, .link, .remove: true
      case .write, .truncate, .sync, .acknowledged: false
      }
    }
  }

  let events: [Event]

  init(parsing bytes: [UInt8]) throws {
    var events: [Event] = []
    var position = 0
    while let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) {
      let words = String(decoding: bytes[position..<end], as: UTF8.self)
        .split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      position = end + 1
      let number = words.count > 1 ? UInt64(words[1]) ?? 0 : 0
      switch (words[0], words.count) {
      case ("w", 4):
        let size = try #require(Int(words[3]))
        events.append(
          .write(
            file: number, offset: try #require(Int(words[2])),
            bytes: Array(bytes[position..<position + size])))
        position += size + 1
      case ("t", 3): events.append(.truncate(file: number, size: try #require(Int(words[2]))))
      case ("s", 2): events.append(.sync(number))
      case ("c", 3): events.append(.make(number, path: words[2], isFolder: false))
      case ("m", 3): events.append(.make(number, path: words[2], isFolder: true))
      case ("r", 3): events.append(.rename(words[1], to: words[2]))
      case ("l", 3): events.append(.link(words[1], to: words[2]))
      case ("u", 2): events.append(.remove(words[1]))
      case ("n", 2): events.append(.acknowledged(try #require(Int(words[1]))))
      default: throw CocoaError(.fileReadCorruptFile)
      }
    }
    self.events = events
  }
}

/// A disk with folders, and what of it survives when the power fails: the content of a file as it was
/// synced, and a name if the folder that has it was synced since. Of what was not synced, any part.
struct RecordedDisk {
  private struct Node {
    var isFolder = false
    /// The content as it was synced, and what was done to it since.
    var durable: [UInt8]?
    var pending: [DiskRecorder.Event] = []
  }

  /// A change of names, which happens completely or not at all.
  private struct Change {
    /// The folder's node, the name in it, and the node that it names then.
    var names: [(folder: Int, name: String, node: Int?)]
  }

  private var nodes: [Node]
  /// The number of the node that a file of the recording system is.
  private var inodes: [UInt64: Int] = [:]
  /// The names in each folder, as the running system sees them, and as they were synced.
  private var live: [Int: [String: Int]] = [:]
  private var durable: [Int: [String: Int]] = [:]
  private var changes: [Change] = []
  private let root: String

  /// An empty disk, of which everything below `root` is recorded.
  init(root: String, inode: UInt64) {
    self.root = root
    nodes = [Node(isFolder: true)]
    inodes[inode] = 0
  }

  /// Takes over what is in a folder of the disk, all of it synced.
  mutating func load(_ folder: URL) throws {
    let files = FileManager.default
    for path in try files.subpathsOfDirectory(atPath: folder.path).sorted() {
      let url = folder.appending(path: path)
      let attributes = try files.attributesOfItem(atPath: url.path)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      nodes.append(
        Node(isFolder: isFolder, durable: isFolder ? nil : Array(try Data(contentsOf: url))))
      let inode = try #require((attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
      inodes[inode] = nodes.count - 1
      change([(url.path, nodes.count - 1)])
    }
    durable = live
    changes = []
  }

  /// How much is not on the disk for certain.
  var pendingCount: Int { changes.count + nodes.reduce(0) { $0 + $1.pending.count } }

  mutating func apply(_ event: DiskRecord.Event) {
    switch event {
    case .write(let file, let offset, let bytes):
      if let node = inodes[file] {
        nodes[node].pending.append(.write(offset: offset, bytes: bytes))
      }
    case .truncate(let file, let size):
      if let node = inodes[file] { nodes[node].pending.append(.truncate(size)) }
    case .sync(let file):
      if let node = inodes[file] { sync(node) }
    case .make(let inode, let path, let isFolder):
      nodes.append(Node(isFolder: isFolder))
      inodes[inode] = nodes.count - 1
      change([(path, nodes.count - 1)])
    case .rename(let old, let new):
      if let node = node(at: old) { change([(old, nil), (new, node)]) }
    case .link(let old, let new):
      if let node = node(at: old) { change([(new, node)]) }
    case .remove(let path): change([(path, nil)])
    case .acknowledged: break
    }
  }

  private mutating func change(_ paths: [(path: String, node: Int?)]) {
    var names: [(Int, String, Int?)] = []
    for (path, node) in paths {
      let url = URL(filePath: path)
      guard let folder = self.node(at: url.deletingLastPathComponent().path) else { continue }
      live[folder, default: [:]][url.lastPathComponent] = node
      names.append((folder, url.lastPathComponent, node))
    }
    changes.append(Change(names: names))
  }

  private func node(at path: String) -> Int? {
    guard path.hasPrefix(root) else { return nil }
    var node = 0
    for name in path.dropFirst(root.count).split(separator: "/") {
      guard let next = live[node]?[String(name)] else { return nil }
      node = next
    }
    return node
  }

  private mutating func sync(_ node: Int) {
    guard nodes[node].isFolder else {
      var bytes = nodes[node].durable
      for change in nodes[node].pending { DiskState.apply(change, to: &bytes) }
      nodes[node].durable = bytes ?? []
      nodes[node].pending = []
      return
    }
    // A change that reaches the disk takes along what was done to the same names before.
    var wanted: Set<String> = []
    var kept: [Change] = []
    var synced: [Change] = []
    for change in changes.reversed() {
      let keys = change.names.map { "\($0.folder)/\($0.name)" }
      if change.names.contains(where: { $0.folder == node }) || !wanted.isDisjoint(with: keys) {
        wanted.formUnion(keys)
        synced.append(change)
      } else {
        kept.append(change)
      }
    }
    for change in synced.reversed() { Self.apply(change, to: &durable) }
    changes = kept.reversed()
  }

  private static func apply(_ change: Change, to names: inout [Int: [String: Int]]) {
    for (folder, name, node) in change.names { names[folder, default: [:]][name] = node }
  }

  /// Writes down the files after the power failed.
  func write(
    to place: URL, _ luck: DiskState.Luck, using random: inout some RandomNumberGenerator
  ) throws {
    let chosen = Int.random(in: 0..<max(1, pendingCount), using: &random)
    var number = 0
    func isTaken() -> Bool {
      defer { number += 1 }
      return switch luck {
      case .nothing: false
      case .everything: true
      case .allButOne: number != chosen
      case .onlyOne: number == chosen
      case .someSectors: Bool.random(using: &random)
      }
    }
    var names = durable
    for change in changes where isTaken() { Self.apply(change, to: &names) }
    var contents: [Int: [UInt8]] = [:]
    for (index, node) in nodes.enumerated() where !node.isFolder {
      var bytes = node.durable
      for change in node.pending {
        if luck == .someSectors {
          DiskState.applyPart(of: change, to: &bytes, using: &random)
        } else if isTaken() {
          DiskState.apply(change, to: &bytes)
        }
      }
      contents[index] = bytes
    }
    try write(0, to: place, names, contents)
  }

  private func write(
    _ folder: Int, to place: URL, _ names: [Int: [String: Int]], _ contents: [Int: [UInt8]]
  ) throws {
    try FileManager.default.createDirectory(
      at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (name, node) in names[folder] ?? [:] where !name.hasSuffix("-shm") {
      let path = place.appending(path: name)
      if nodes[node].isFolder {
        try write(node, to: path, names, contents)
      } else {
        try Data(contents[node] ?? []).write(to: path)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o600], ofItemAtPath: path.path)
      }
    }
  }
}
