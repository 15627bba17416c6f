import Foundation
import SalesforceSDKCommon

/// An inspection of a store whose change of key or encryption failed: finds which key opens it.
struct StoreKeyInspection {
  let paths: StorePaths
  let options: StoreDatabaseOptions
  /// The old key; nil if the store was plaintext.
  let old: (any StoreKeyProvider)?
  /// The new key; nil if the store was to become plaintext.
  let new: (any StoreKeyProvider)?

  /// Runs `work`, and adds to its error the key that opens the store afterwards.
  func stating<Result>(
    _ work: () throws(SmartStoreError) -> Result
  ) throws(SmartStoreError) -> Result {
    do throws(SmartStoreError) {
      return try work()
    } catch {
      // A function that `work` called may have added it already.
      guard error.keyStates.isEmpty else { throw error }
      throw error.stating(state(after: error).map { [$0] } ?? [])
    }
  }

  /// Reads the state from the files, and reads a second time if that fails. Nil if there is no
  /// store.
  func state(after error: SmartStoreError) -> StoreKeyState? {
    if isMissing(paths.database), isMissing(paths.keyFile) { return nil }
    let key = findKey() ?? findKey() ?? .unknown
    let isSure =
      switch key {
      // The deciding file was not replaced. A key file that could not be restored may have either
      // state.
      case .old: error.code != .backupFailed || new == nil
      case .none: old == nil
      // The key file was on disk before the database was replaced.
      case .new: error.code == .unfinishedOperation
      case .another: true
      case .unknown: false
      }
    return StoreKeyState(
      directory: paths.url, key: key, keepsBothKeys: !isSure)
  }

  /// Whether the file certainly does not exist. A file that cannot be examined may exist.
  private func isMissing(_ path: String) -> Bool {
    do throws(FileFailure) {
      return try DurableFile(path: path).size() == nil
    } catch {
      return false
    }
  }

  /// Returns the key with which the next opening succeeds; nil if the files could not be read.
  private func findKey() -> StoreKeyState.Key? {
    do throws(SmartStoreError) {
      let lock = try StoreOpening(paths: paths, options: options).takeLock()
      return try? lock.whileHeld { () throws in try keyOfClosedStore() }
    } catch  where error.code == .busyOtherProcess {
      return try? keyOfOpenStore()
    } catch {
      return nil
    }
  }

  private func keyOfClosedStore() throws -> StoreKeyState.Key {
    switch try StaleStoreFiles(paths).header()?.kind {
    case .plaintext: return .none
    case .store:
      let hasKeyFile = try DurableFile(path: paths.keyFile).size() != nil
      return try key(in: hasKeyFile ? paths.keyFile : paths.pendingKeyFile)
    case .foreign, nil: return .unknown
    }
  }

  /// Returns the key of a store that another instance has open. Does not read its database, because
  /// closing a file of this process releases SQLite's locks on it.
  private func keyOfOpenStore() throws -> StoreKeyState.Key {
    if try DurableFile(path: paths.keyFile).size() != nil { return try key(in: paths.keyFile) }
    // During a conversion the state can change at any moment.
    let isPending = try DurableFile(path: paths.pendingKeyFile).size() != nil
    return old == nil && !isPending ? .none : .unknown
  }

  /// Returns the key that unwraps a key file.
  private func key(in path: String) throws -> StoreKeyState.Key {
    guard let bytes = try DurableFile(path: path).read(limit: StoreKeyFile.maxSize + 1),
      let file = try? StoreKeyFile(parsing: bytes)
    else { return .unknown }
    var isKnown = true
    for (provider, key) in [(old, StoreKeyState.Key.old), (new, .new)] {
      guard let provider else { continue }
      do {
        let source = StoreKeySource(provider, for: paths.identity)
        guard let wrapping = try source.key(of: file) else {
          throw SmartStoreError(.keyMissing, "")
        }
        if (try? file.unwrap(with: wrapping, for: paths.identity)) != nil { return key }
      } catch {
        isKnown = false
      }
    }
    return isKnown ? .another : .unknown
  }
}
