import HTTPTypes
import SalesforceSDKCommon

/// The line of the log about a request that has ended: method, path, status, milliseconds and bytes.
struct RequestLine: CustomStringConvertible {
  let method: HTTPRequest.Method
  /// The path without query and without values, see ``safePath(_:)``.
  let path: String
  let status: Int?
  let duration: Duration
  let sentBytes: Int64
  let receivedBytes: Int64

  var description: String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    return "\(method) \(path): \(status.map(String.init) ?? "no response"), \(milliseconds) ms, "
      + "\(sentBytes) bytes sent, \(receivedBytes) bytes received"
  }

  /// The path of a target or an address, without what may be data of a user: query and fragment are left out,
  /// and `…` stands for external ids, for what follows the name of an Apex REST endpoint, and for parts with
  /// other characters than those of names and ids. Ids of records stay.
  static func safePath(_ target: some StringProtocol) -> String {
    var target = Substring(target).prefix { $0 != "?" && $0 != "#" }
    if let scheme = target.firstRange(of: "://") {
      target = target[scheme.upperBound...].drop { $0 != "/" }
    }
    let parts = target.split(separator: "/")
    return "/"
      + parts.indices.map { isSafe($0, in: parts) ? String(parts[$0]) : "…" }
      .joined(separator: "/")
  }

  private static func isSafe(_ index: Int, in parts: [Substring]) -> Bool {
    let part = parts[index]
    guard part.utf8.allSatisfy(isNameByte) else { return false }
    if isId(part) { return !isExternalId(index, in: parts) }
    if let endpoint = parts.firstIndex(of: "apexrest") { return index <= endpoint + 1 }
    guard let objects = parts.firstIndex(of: "sobjects") else { return true }
    switch index - objects {
    case ...1: return true
    // `sobjects/Account/describe`, or the field of an external id.
    case 2: return resources.contains(part) || index + 1 < parts.count
    default: return !isExternalId(index, in: parts)
    }
  }

  /// Whether the part follows the name of a field: `sobjects/Account/Number__c/4711`.
  private static func isExternalId(_ index: Int, in parts: [Substring]) -> Bool {
    guard let objects = parts.firstIndex(of: "sobjects"), index >= objects + 3 else { return false }
    return !isId(parts[objects + 2]) && !resources.contains(parts[objects + 2])
  }

  private static func isId(_ part: Substring) -> Bool { SalesforceId(String(part)) != nil }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// The names that may follow the type of a record and are not records.
  private static let resources: Set<Substring> = [
    "approvalLayouts", "compactLayouts", "defaultValues", "deleted", "describe", "layouts",
    "listviews", "quickActions", "updated",
  ]
}
