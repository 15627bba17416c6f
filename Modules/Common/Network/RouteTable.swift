import Foundation

/// The system's routes, which show whether there is a way out of this machine.
enum RouteTable {
  /// Looks for a default route.
  static func status() -> NetworkStatus {
    #if os(Linux)
      guard let four = try? String(contentsOfFile: "/proc/net/route", encoding: .utf8) else {
        return .unknown
      }
      let six = (try? String(contentsOfFile: "/proc/net/ipv6_route", encoding: .utf8)) ?? ""
      return status(four: four, six: six)
    #else
      return .unknown
    #endif
  }

  /// Reads the tables of `/proc/net/route` and `/proc/net/ipv6_route`.
  static func status(four: String, six: String) -> NetworkStatus {
    var devices: [Substring] = []
    for line in four.split(separator: "\n").dropFirst() {
      let fields = line.split(whereSeparator: \.isWhitespace)
      // Interface, destination, gateway, flags, ..., mask: the default has neither target nor mask.
      guard fields.count >= 8, fields[1].allSatisfy({ $0 == "0" }),
        fields[7].allSatisfy({ $0 == "0" }), isUp(fields[3])
      else { continue }
      devices.append(fields[0])
    }
    for line in six.split(separator: "\n") {
      let fields = line.split(whereSeparator: \.isWhitespace)
      // The last field is the interface; `lo` holds the entries that lead nowhere.
      guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00",
        isUp(fields[8].suffix(4)), fields[9] != "lo"
      else { continue }
      devices.append(fields[9])
    }
    guard !devices.isEmpty else { return .notReachable }
    return devices.allSatisfy(isCellular) ? .viaCellular : .viaWiFi
  }

  /// Whether the flags of a route hold `RTF_UP`.
  private static func isUp(_ flags: some StringProtocol) -> Bool {
    Int(flags, radix: 16).map { $0 & 1 == 1 } ?? false
  }

  /// The prefixes of modem interfaces.
  private static func isCellular(_ device: Substring) -> Bool {
    ["wwan", "ww", "ppp", "rmnet"].contains { device.hasPrefix($0) }
  }
}
