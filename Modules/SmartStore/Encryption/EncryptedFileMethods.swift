import GRDBSQLite

/// SQLite's calls on an open file. Pages, frames and headers are handled here; other calls are
/// forwarded to the underlying file.
enum EncryptedFileMethods {
  /// The table of methods, of version 2: shared memory for the WAL's index, but no memory mapping
  /// of the database, which would return encrypted pages.
  nonisolated(unsafe) static let table: UnsafeMutablePointer<sqlite3_io_methods> = {
    // Written only here; SQLite only reads it.
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 2
    installContentMethods(methods)
    installFileMethods(methods)
    installSharedMemoryMethods(methods)
    return methods
  }()
}

private func installContentMethods(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
  methods.pointee.xRead = { file, buffer, count, offset in
    guard let state = EncryptedFile.state(file), let buffer else { return SQLITE_IOERR }
    switch state.kind {
    case .database: return state.readDatabase(buffer, Int(count), offset)
    case .log: return state.readLog(buffer, Int(count), offset)
    }
  }
  methods.pointee.xWrite = { file, buffer, count, offset in
    guard let state = EncryptedFile.state(file), let buffer else { return SQLITE_IOERR }
    guard state.connection.store.acceptsWrites else { return StoreIOError.write }
    switch state.kind {
    case .database: return state.writeDatabase(buffer, Int(count), offset)
    case .log:
      let code = state.writeLog(buffer, Int(count), offset)
      if code != SQLITE_OK { state.connection.store.binding?.didFail() }
      return code
    }
  }
  methods.pointee.xTruncate = { file, size in
    guard let state = EncryptedFile.state(file), let truncate = state.methods.xTruncate else {
      return SQLITE_IOERR
    }
    guard state.connection.store.acceptsWrites else { return StoreIOError.truncate }
    if state.kind == .database, size % Int64(PageFormat.pageSize) != 0 { return SQLITE_IOERR }
    var code = state.flushFrames()
    if code == SQLITE_OK, state.kind == .log, size == 0 {
      code = state.connection.store.binding?.willRemove() ?? SQLITE_OK
    }
    guard code == SQLITE_OK else { return code }
    if state.kind == .database { state.connection.store.willTruncateDatabase(to: size) }
    return truncate(state.base, size)
  }
}

private func installFileMethods(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
  methods.pointee.xClose = { file in EncryptedFile.close(file) }
  methods.pointee.xSync = { file, flags in
    guard let state = EncryptedFile.state(file) else { return SQLITE_IOERR }
    return state.sync(flags)
  }
  methods.pointee.xFileSize = { file, size in
    guard let state = EncryptedFile.state(file), let fileSize = state.methods.xFileSize else {
      return SQLITE_IOERR
    }
    let code = state.flushFrames()
    guard code == SQLITE_OK else { return code }
    return fileSize(state.base, size)
  }
  methods.pointee.xLock = { file, level in
    guard let state = EncryptedFile.state(file), let lock = state.methods.xLock else {
      return SQLITE_IOERR
    }
    return lock(state.base, level)
  }
  methods.pointee.xUnlock = { file, level in
    guard let state = EncryptedFile.state(file), let unlock = state.methods.xUnlock else {
      return SQLITE_IOERR
    }
    return unlock(state.base, level)
  }
  methods.pointee.xCheckReservedLock = { file, result in
    guard let state = EncryptedFile.state(file), let check = state.methods.xCheckReservedLock else {
      return SQLITE_IOERR
    }
    return check(state.base, result)
  }
  methods.pointee.xFileControl = { file, operation, argument in
    guard let state = EncryptedFile.state(file) else { return SQLITE_IOERR }
    return state.control(operation, argument)
  }
  methods.pointee.xSectorSize = { file in
    guard let state = EncryptedFile.state(file), let size = state.methods.xSectorSize else {
      return Int32(PageFormat.pageSize)
    }
    return size(state.base)
  }
  methods.pointee.xDeviceCharacteristics = { file in
    guard let state = EncryptedFile.state(file), let get = state.methods.xDeviceCharacteristics
    else {
      return 0
    }
    // Other capabilities of the underlying file, such as atomic writes, would lead to writes that
    // are not pages.
    return get(state.base) & SQLITE_IOCAP_POWERSAFE_OVERWRITE
  }
}

private func installSharedMemoryMethods(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
  methods.pointee.xShmMap = { file, page, size, extend, output in
    guard let state = EncryptedFile.state(file), let map = state.methods.xShmMap else {
      return SQLITE_IOERR
    }
    return map(state.base, page, size, extend, output)
  }
  methods.pointee.xShmLock = { file, offset, count, flags in
    guard let state = EncryptedFile.state(file) else { return SQLITE_IOERR }
    return state.lockIndex(offset, count, flags)
  }
  methods.pointee.xShmBarrier = { file in
    guard let state = EncryptedFile.state(file) else { return }
    state.methods.xShmBarrier?(state.base)
  }
  methods.pointee.xShmUnmap = { file, delete in
    guard let state = EncryptedFile.state(file), let unmap = state.methods.xShmUnmap else {
      return SQLITE_IOERR
    }
    return unmap(state.base, delete)
  }
}
