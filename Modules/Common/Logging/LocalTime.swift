#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A moment as the clock on the wall shows it.
struct LocalTime: Sendable {
  /// `MM-dd HH:mm:ss.SSS`.
  let text: String

  /// A moment by its distance from 1970 in UTC.
  init(seconds: Int, milliseconds: Int = 0) {
    var time = time_t(seconds)
    var parts = tm()
    localtime_r(&time, &parts)
    func padded(_ number: some BinaryInteger, _ digits: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
    }
    text =
      "\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday)) \(padded(parts.tm_hour)):"
      + "\(padded(parts.tm_min)):\(padded(parts.tm_sec)).\(padded(milliseconds, 3))"
  }

  /// This moment.
  static var now: LocalTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return LocalTime(seconds: Int(time.tv_sec), milliseconds: Int(time.tv_nsec) / 1_000_000)
  }
}
