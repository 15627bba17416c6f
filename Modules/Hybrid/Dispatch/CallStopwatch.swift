import SalesforceSDKCommon

/// The duration of a call, for the log at level debug (HT-71). It logs neither arguments nor results.
struct CallStopwatch {
  private let start: ContinuousClock.Instant

  /// - Returns: Nil if the log does not accept the level, so that calls cost nothing more.
  init?() {
    guard HybridLogger.log.isEnabled(.debug) else { return nil }
    start = .now
  }

  /// Logs service, action, outcome, duration, and the length of the response in bytes.
  func log(_ frame: HybridFrame, _ status: HybridResponse.Status, bytes: Int) {
    let microseconds = Int64((ContinuousClock.now - start) / .microseconds(1))
    let (whole, thousandths) = (microseconds / 1_000, microseconds % 1_000)
    let fraction = String("00\(thousandths)".suffix(3))
    HybridLogger.log.debug(
      "\(Self.name(frame.service)).\(Self.name(frame.action)): \(status.rawValue), "
        + "\(whole).\(fraction) ms, \(bytes) bytes")
  }

  /// A name without anything that could begin another line or hold data: the page chooses it.
  private static func name(_ text: String) -> String {
    let isName =
      text.utf8.count <= 80
      && text.unicodeScalars.allSatisfy {
        $0.isASCII
          && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
            || "._-".unicodeScalars.contains($0))
      }
    return isName ? text : "(a name of \(text.utf8.count) bytes)"
  }
}
