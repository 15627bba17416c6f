import Foundation
import GRDBSQLite
import Synchronization

/// A VFS over the system's that fails one operation, or all from one on, as a bad or full disk does,
/// and that tells a recorder what was written. The sealing VFS stands on it as on any other.
///
/// `@unchecked Sendable` because all that changes after `init` is in a `Mutex`.
final class FaultyDisk: @unchecked Sendable {
  /// What can fail.
  enum Operation: CaseIterable, Sendable { case open, read, write, sync, truncate }

  /// Which operations fail, and how.
  struct Fault: Sendable {
    var operations: Set<Operation>
    /// How many of them succeed first.
    var after: Int
    /// How many fail then.
    var count = 1
    var code: Int32
    /// A failing write leaves its first half on the disk; a failing read gives the first half, and
    /// zeros for the rest.
    var tearsWrites = false
  }

  /// A call on the index of the log, which has happened. A lock is named by its first slot.
  enum IndexCall: Equatable, Sendable { case lock(Int32), unlock(Int32), barrier }

  let name = "faulty-\(UUID().uuidString.prefix(8))"
  private let base: UnsafeMutablePointer<sqlite3_vfs>
  private let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
  private let state = Mutex(State())
  private let recorder: DiskRecorder?

  private struct State {
    var paths: [String] = []
    var fault: Fault?
    var seen = 0
    var failed = 0
    var lastFailure: String?
    var watchIndex: (@Sendable (IndexCall, UnsafeMutableRawPointer) -> Void)?
  }

  init?(recorder: DiskRecorder? = nil) {
    self.recorder = recorder
    guard let base = sqlite3_vfs_find(nil) else { return nil }
    self.base = base
    // What does not touch a file goes to the system's VFS directly.
    vfs.initialize(to: base.pointee)
    vfs.pointee.iVersion = 2
    vfs.pointee.pNext = nil
    vfs.pointee.szOsFile = Int32(FaultyFile.headerSize) + base.pointee.szOsFile
    vfs.pointee.zName = UnsafePointer(strdup(name))
    vfs.pointee.pAppData = Unmanaged.passRetained(self).toOpaque()
    vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
      guard let data = vfs?.pointee.pAppData, let file else { return SQLITE_CANTOPEN }
      let disk = Unmanaged<FaultyDisk>.fromOpaque(data).takeUnretainedValue()
      return disk.open(name, file, flags, outFlags)
    }
    vfs.pointee.xDelete = { vfs, path, syncsFolder in
      guard let data = vfs?.pointee.pAppData, let path else { return SQLITE_IOERR }
      let disk = Unmanaged<FaultyDisk>.fromOpaque(data).takeUnretainedValue()
      let code = disk.base.pointee.xDelete(disk.base, path, syncsFolder)
      if code == SQLITE_OK { disk.recorder?.add(.remove, to: String(cString: path)) }
      return code
    }
    guard sqlite3_vfs_register(vfs, 0) == SQLITE_OK else { return nil }
  }

  /// Arms `fault` and counts from zero; nil heals the disk.
  func arm(_ fault: Fault?) {
    state.withLock { state in
      state.fault = fault
      state.seen = 0
      state.failed = 0
      state.lastFailure = nil
    }
  }

  /// How many operations failed since ``arm(_:)``.
  var failures: Int { state.withLock { $0.failed } }

  /// How many operations of the armed kinds there were since then.
  var operations: Int { state.withLock { $0.seen } }

  /// The file whose operation failed last since ``arm(_:)``; nil if none did, or it was an opening.
  var lastFailure: String? { state.withLock { $0.lastFailure } }

  /// Has `watch` called for each call on the index of a log, on the thread of the connection that
  /// made it, with the address of the index. Nil ends that.
  func watchIndex(_ watch: (@Sendable (IndexCall, UnsafeMutableRawPointer) -> Void)?) {
    state.withLock { $0.watchIndex = watch }
  }

  /// Tells who watches the index.
  fileprivate func tell(_ call: IndexCall, _ file: UnsafeMutablePointer<sqlite3_file>?) {
    let index = UnsafeMutableRawPointer(file)?.assumingMemoryBound(to: FaultyFile.self)
      .pointee.index
    guard let watch = state.withLock({ $0.watchIndex }), let index else { return }
    watch(call, index)
  }

  /// The fault that this operation meets, if any.
  fileprivate func meets(
    _ operation: Operation, _ file: UnsafeMutablePointer<sqlite3_file>? = nil
  ) -> Fault? {
    let number = UnsafeMutableRawPointer(file)?.assumingMemoryBound(to: FaultyFile.self)
      .pointee.number
    return state.withLock { state in
      guard let fault = state.fault, fault.operations.contains(operation) else { return nil }
      defer { state.seen += 1 }
      guard state.seen >= fault.after, state.failed < fault.count else { return nil }
      state.failed += 1
      state.lastFailure = number.map { state.paths[$0] }
      return fault
    }
  }

  private func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    file.pointee.pMethods = nil
    if let fault = meets(.open) { return fault.code }
    let memory = UnsafeMutableRawPointer(file)
    let below = FaultyFile.below(memory)
    below.pointee.pMethods = nil
    guard let open = base.pointee.xOpen else { return SQLITE_CANTOPEN }
    let code = open(base, name, below, flags, outFlags)
    guard code == SQLITE_OK else { return code }
    let header = memory.assumingMemoryBound(to: FaultyFile.self)
    header.pointee.disk = Unmanaged.passUnretained(self)
    header.pointee.index = nil
    header.pointee.number = state.withLock { state in
      state.paths.append(name.map { String(cString: $0) } ?? "")
      return state.paths.count - 1
    }
    file.pointee.pMethods = UnsafePointer(FaultyFile.methods)
    return SQLITE_OK
  }
}

extension FaultyDisk {
  /// Tells the recorder, if there is one, what happened to a file.
  fileprivate func record(
    _ event: @autoclosure () -> DiskRecorder.Event, _ file: UnsafeMutablePointer<sqlite3_file>?
  ) {
    guard let recorder, let file else { return }
    let number = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultyFile.self)
      .pointee.number
    recorder.add(event(), to: state.withLock { $0.paths[number] })
  }
}

/// A file on a ``FaultyDisk``.
private struct FaultyFile {
  var file: sqlite3_file
  var disk: Unmanaged<FaultyDisk>
  /// Which of the paths that the disk opened.
  var number: Int
  /// The first page of the index of the log, once it is mapped.
  var index: UnsafeMutableRawPointer?

  static let headerSize = (MemoryLayout<FaultyFile>.size + 15) & ~15

  static func below(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<sqlite3_file> {
    (memory + headerSize).assumingMemoryBound(to: sqlite3_file.self)
  }

  /// The file below, its methods and the disk.
  static func parts(
    _ file: UnsafeMutablePointer<sqlite3_file>?
  ) -> (UnsafeMutablePointer<sqlite3_file>, sqlite3_io_methods, FaultyDisk) {
    guard let file else { preconditionFailure("SQLite passes a file") }
    let memory = UnsafeMutableRawPointer(file)
    let below = below(memory)
    let disk = memory.assumingMemoryBound(to: FaultyFile.self).pointee.disk
    return (below, below.pointee.pMethods.pointee, disk.takeUnretainedValue())
  }

  nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    // Written once, here; SQLite only reads it.
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 2
    methods.pointee.xRead = { file, buffer, count, offset in
      let (below, methods, disk) = parts(file)
      guard let fault = disk.meets(.read, file) else {
        return methods.xRead(below, buffer, count, offset)
      }
      if fault.tearsWrites, let buffer {
        memset(buffer, 0, Int(count))
        _ = methods.xRead(below, buffer, count / 2, offset)
      }
      return fault.code
    }
    methods.pointee.xWrite = { file, buffer, count, offset in
      let (below, methods, disk) = parts(file)
      guard let fault = disk.meets(.write, file) else {
        let code = methods.xWrite(below, buffer, count, offset)
        if code == SQLITE_OK {
          let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
          disk.record(.write(offset: Int(offset), bytes: Array(bytes)), file)
        }
        return code
      }
      if fault.tearsWrites { _ = methods.xWrite(below, buffer, count / 2, offset) }
      return fault.code
    }
    methods.pointee.xSync = { file, flags in
      let (below, methods, disk) = parts(file)
      if let fault = disk.meets(.sync, file) { return fault.code }
      let code = methods.xSync(below, flags)
      if code == SQLITE_OK { disk.record(.sync, file) }
      return code
    }
    methods.pointee.xTruncate = { file, size in
      let (below, methods, disk) = parts(file)
      if let fault = disk.meets(.truncate, file) { return fault.code }
      let code = methods.xTruncate(below, size)
      if code == SQLITE_OK { disk.record(.truncate(Int(size)), file) }
      return code
    }
    methods.pointee.xClose = { file in
      let (below, methods, _) = parts(file)
      return methods.xClose(below)
    }
    methods.pointee.xFileSize = { file, size in
      let (below, methods, _) = parts(file)
      return methods.xFileSize(below, size)
    }
    methods.pointee.xLock = { file, level in
      let (below, methods, _) = parts(file)
      return methods.xLock(below, level)
    }
    methods.pointee.xUnlock = { file, level in
      let (below, methods, _) = parts(file)
      return methods.xUnlock(below, level)
    }
    methods.pointee.xCheckReservedLock = { file, result in
      let (below, methods, _) = parts(file)
      return methods.xCheckReservedLock(below, result)
    }
    methods.pointee.xFileControl = { file, operation, argument in
      let (below, methods, _) = parts(file)
      return methods.xFileControl(below, operation, argument)
    }
    methods.pointee.xSectorSize = { file in
      let (below, methods, _) = parts(file)
      return methods.xSectorSize(below)
    }
    methods.pointee.xDeviceCharacteristics = { file in
      let (below, methods, _) = parts(file)
      return methods.xDeviceCharacteristics(below)
    }
    methods.pointee.xShmMap = { file, page, size, extend, output in
      let (below, methods, _) = parts(file)
      let code = methods.xShmMap(below, page, size, extend, output)
      if code == SQLITE_OK, page == 0, let file {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultyFile.self)
          .pointee.index = UnsafeMutableRawPointer(mutating: output?.pointee)
      }
      return code
    }
    methods.pointee.xShmLock = { file, offset, count, flags in
      let (below, methods, disk) = parts(file)
      let code = methods.xShmLock(below, offset, count, flags)
      if code == SQLITE_OK {
        disk.tell(flags & SQLITE_SHM_LOCK != 0 ? .lock(offset) : .unlock(offset), file)
      }
      return code
    }
    methods.pointee.xShmBarrier = { file in
      let (below, methods, disk) = parts(file)
      methods.xShmBarrier(below)
      disk.tell(.barrier, file)
    }
    methods.pointee.xShmUnmap = { file, delete in
      let (below, methods, _) = parts(file)
      return methods.xShmUnmap(below, delete)
    }
    return methods
  }()
}
