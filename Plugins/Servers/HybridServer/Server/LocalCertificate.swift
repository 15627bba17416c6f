import Crypto
public import Foundation

/// A certificate for `localhost`, new for each server, which a window accepts and no other program knows.
///
/// A web engine treats `https://localhost` as a secure page only over TLS. The window ends TLS in its own process, with
/// this certificate.
public struct LocalCertificate: Sendable {
  /// The certificate and its private key in PEM.
  public let pem: String

  /// Creates a key and a certificate that is valid for ten years from a day before `date`.
  ///
  /// - Throws: The error of the cipher library.
  public init(date: Date = Date()) throws {
    let key = P256.Signing.PrivateKey()
    // ecdsa-with-SHA256
    let algorithm = DER.sequence(DER.identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
    let name = DER.sequence(
      DER.set(DER.sequence(DER.identifier([0x55, 0x04, 0x03]) + DER.text("localhost"))))
    let serial = [0x01] + (0..<15).map { _ in UInt8.random(in: .min ... .max) }
    let names = DER.sequence(DER.value(0x82, Array("localhost".utf8)))
    let extensions = DER.sequence(
      DER.sequence(DER.identifier([0x55, 0x1D, 0x11]) + DER.value(0x04, names)))
    let body = DER.sequence(
      DER.value(0xA0, DER.value(0x02, [2])) + DER.value(0x02, serial) + algorithm + name
        + DER.sequence(
          DER.time(date.addingTimeInterval(-86_400))
            + DER.time(date.addingTimeInterval(315_360_000)))
        + name + Array(key.publicKey.derRepresentation) + DER.value(0xA3, extensions))
    let signature = Array(try key.signature(for: body).derRepresentation)
    let certificate = DER.sequence(body + algorithm + DER.value(0x03, [0] + signature))
    let text = Data(certificate).base64EncodedString(
      options: [.lineLength64Characters, .endLineWithLineFeed])
    pem =
      "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n\(key.pemRepresentation)\n"
  }
}

/// The parts of the encoding of certificates that are needed here (X.690).
private enum DER {
  static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    if count < 128 { return [tag, UInt8(count)] + content }
    let length = withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }

  static func sequence(_ content: [UInt8]) -> [UInt8] { value(0x30, content) }
  static func set(_ content: [UInt8]) -> [UInt8] { value(0x31, content) }
  static func identifier(_ encoded: [UInt8]) -> [UInt8] { value(0x06, encoded) }
  static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }

  /// A date after 1950 as GeneralizedTime.
  static func time(_ date: Date) -> [UInt8] {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
    let digits = [parts.month, parts.day, parts.hour, parts.minute, parts.second].map { part in
      let text = String(part ?? 0)
      return text.count < 2 ? "0" + text : text
    }
    return value(0x18, Array("\(parts.year ?? 2000)\(digits.joined())Z".utf8))
  }
}
