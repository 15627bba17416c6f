package import Foundation
import SalesforceSDKCommon
import Synchronization

/// The managed configuration of an application on Linux, and its changes.
///
/// It is the first of the files `/etc/APP/managed.json` and
/// `/etc/salesforce-mobilesdk/managed/APP.json` that exists and that only root can write: root owns
/// the file and the folders above it, and neither group nor others may write to them. Any other
/// file is ignored, with a warning in the log.
///
/// ```swift
/// let managed = try ManagedConfigurationFile(application: "com.acme.orders")
/// options.managed = managed
/// async let watching: Void = managed.watch()
/// for await configuration in managed.changes() { … }
/// ```
public final class ManagedConfigurationFile: Sendable {
  private let files: [URL]
  private let owner: uid_t
  private let markers: FeatureMarkers
  private let state = Mutex<Result<ManagedConfiguration, OAuthError>>(.success(.init()))
  private let source = EventSource<ManagedConfiguration>()

  /// No such file is longer: 1 MiB.
  private static let maxBytes = 1 << 20

  /// Reads the configuration of an application.
  ///
  /// - Parameter application: The application's id; it is the name of a folder.
  public convenience init(application: String) {
    precondition(
      !application.isEmpty && !application.contains("/") && application != "."
        && application != "..",
      "\(application) is no application id")
    self.init(
      files: [
        URL(filePath: "/etc/\(application)/managed.json"),
        URL(filePath: "/etc/salesforce-mobilesdk/managed/\(application).json"),
      ])
  }

  /// Reads the first of some files.
  ///
  /// - Parameters:
  ///   - owner: The user id that must own the files. Default: root's.
  ///   - markers: The markers that show the state. Default: those of the process.
  package init(files: [URL], owner: uid_t = 0, markers: FeatureMarkers = .shared) {
    self.files = files
    self.owner = owner
    self.markers = markers
    reload()
  }

  /// The configuration as it was read last; without a file, one without restrictions.
  ///
  /// - Throws: ``OAuthError`` `badManagedConfiguration` (681) while the file is not a JSON object
  ///   or cannot be read: the restrictions are unknown, so logins are blocked.
  public var current: ManagedConfiguration {
    get throws(OAuthError) { try state.withLock { $0 }.get() }
  }

  /// Reads the file again, for instance on SIGHUP.
  ///
  /// - Returns: Whether something has changed.
  @discardableResult
  public func reload() -> Bool {
    let new: Result<ManagedConfiguration, OAuthError>
    do throws(OAuthError) {
      new = .success(try read())
    } catch {
      new = .failure(error)
    }
    let old = state.withLock { state in
      defer { state = new }
      return state
    }
    switch (old, new) {
    case (.success(let old), .success(let new)) where old == new: return false
    case (.failure(let old), .failure(let new)) where old.message == new.message: return false
    case (_, .success(let new)):
      new.register(in: markers)
      for problem in new.problems {
        CoreLogger.log.warning("The managed configuration has a bad value. \(problem)")
      }
      source.send(new)
    case (_, .failure(let error)): CoreLogger.log.error("\(error.message)")
    }
    return true
  }

  /// Each new configuration from now on. Each call returns a separate stream, which buffers all of
  /// them until they are read.
  public func changes() -> some AsyncSequence<ManagedConfiguration, Never> & Sendable {
    source.stream()
  }

  /// Checks for changes until the task is cancelled.
  ///
  /// - Parameters:
  ///   - interval: The time between two checks. Default: 10 seconds.
  ///   - clock: Measures the pauses.
  public func watch(
    every interval: Duration = .seconds(10), clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    while true {
      try await clock.sleep(for: interval)
      reload()
    }
  }

  // MARK: Reading

  private func read() throws(OAuthError) -> ManagedConfiguration {
    for file in files {
      let content: DurableFile.Content?
      do throws(FileFailure) {
        content = try DurableFile(file).content(maxBytes: Self.maxBytes)
      } catch {
        throw OAuthError(
          .badManagedConfiguration, "The managed configuration cannot be read: \(error).")
      }
      guard let content else { continue }
      if let doubt = Self.doubt(about: file, owner: owner) {
        CoreLogger.log.warning("The managed configuration \(file.path) is ignored: \(doubt).")
        continue
      }
      return try ManagedConfiguration(parsing: content.bytes)
    }
    return ManagedConfiguration()
  }

  /// Returns the reason why a user other than root may have written a file; nil if only root can
  /// have written it.
  package static func doubt(about file: URL, owner: uid_t = 0) -> String? {
    guard let path = realpath(file.path, nil) else { return "it cannot be examined" }
    defer { free(path) }
    var url = URL(filePath: String(cString: path))
    var isFile = true
    while true {
      var status = stat()
      guard stat(url.path, &status) == 0 else { return "\(url.path) cannot be examined" }
      guard status.st_uid == 0 || status.st_uid == owner else {
        return "\(url.path) does not belong to root"
      }
      // In a sticky folder, such as /tmp, users cannot replace the files of others.
      let isSticky = !isFile && status.st_mode & S_ISVTX != 0
      guard status.st_mode & 0o022 == 0 || isSticky else {
        return "users other than root may write to \(url.path)"
      }
      guard url.path != "/" else { return nil }
      url = url.deletingLastPathComponent()
      isFile = false
    }
  }
}
