import Foundation
import SalesforceSDKCommon

/// A time on the clock that counts from the start of the device. The clock continues while the
/// device sleeps, and users cannot set it.
public struct BootTime: Sendable, Equatable {
  /// The id of the device start that the time counts from.
  public let boot: String
  /// The time since then.
  public let elapsed: Duration

  /// Creates a time.
  public init(boot: String, elapsed: Duration) {
    self.boot = boot
    self.elapsed = elapsed
  }

  /// The current time.
  public static var now: BootTime { BootTime(boot: currentBoot, elapsed: sinceBoot) }

  /// Returns the time since an earlier moment; nil if the device was started in between.
  public func since(_ earlier: BootTime) -> Duration? {
    boot == earlier.boot ? elapsed - earlier.elapsed : nil
  }

  private static var sinceBoot: Duration {
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_BOOTTIME, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC_RAW, &time)
    #endif
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  #if os(Linux)
    private static let currentBoot: String = {
      let bytes = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
      // A system without it gives each process a start of its own.
      return bytes.map { String(decoding: $0, as: UTF8.self).trimmed } ?? UUID().uuidString
    }()
  #else
    private static let currentBoot: String = {
      var bytes = [UInt8](repeating: 0, count: 64)
      var size = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else {
        return UUID().uuidString
      }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }()
  #endif
}
