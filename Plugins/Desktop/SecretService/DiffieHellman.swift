import Crypto
import SalesforceSDKCommon

/// The key agreement of the secret service's encrypted sessions, `dh-ietf1024-sha256-aes128-cbc-pkcs7`: Diffie-Hellman in the
/// second Oakley group (RFC 2409, 1,024 bits, generator 2), whose result HKDF-SHA256 turns into an AES-128 key.
///
/// The session goes through a socket that only this user and the system can reach; the agreement keeps secrets out of
/// the logs and monitors of the bus.
struct DiffieHellman {
  /// A number of 1,024 bits, least limb first.
  typealias Number = [UInt64]

  static let limbs = 16
  /// Two to the power of 1024 - 2^960 - 1 + 2^64 * (2^894 pi + 129093).
  static let prime: Number = number(
    Hex.decode(
      "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74"
        + "020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437"
        + "4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed"
        + "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff") ?? [])

  private let exponent: [UInt8]
  /// The public value for the other side: 128 bytes, most significant first.
  let publicKey: [UInt8]

  /// Draws a secret exponent of 320 bits, twice what the group is worth.
  init() { self.init(exponent: RandomBytes.make(40)) }

  init(exponent: [UInt8]) {
    self.exponent = exponent
    publicKey = Self.bytes(Self.power(Self.number([2]), exponent))
  }

  /// The key that both sides have; nil if the other side's number is not one of the group's that keep it secret.
  func sharedKey(_ other: [UInt8]) -> SymmetricKey? {
    guard other.count <= Self.limbs * 8 else { return nil }
    let number = Self.number(other)
    let isSmall = number[0] < 2 && number.dropFirst().allSatisfy { $0 == 0 }
    var greatest = Self.prime
    greatest[0] -= 1
    guard !isSmall, Self.isLess(number, greatest) else { return nil }
    return HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Self.bytes(Self.power(number, exponent))),
      info: [UInt8](), outputByteCount: 16)
  }

  // MARK: Arithmetic

  static func number(_ bytes: [UInt8]) -> Number {
    var number = Number(repeating: 0, count: limbs)
    for (position, byte) in bytes.reversed().enumerated() {
      number[position / 8] |= UInt64(byte) << UInt64(position % 8 * 8)
    }
    return number
  }

  static func bytes(_ number: Number) -> [UInt8] {
    number.reversed().flatMap { limb in
      (0..<8).map { UInt8(truncatingIfNeeded: limb >> (56 - $0 * 8)) }
    }
  }

  private static func isLess(_ a: Number, _ b: Number) -> Bool {
    for place in (0..<limbs).reversed() where a[place] != b[place] { return a[place] < b[place] }
    return false
  }

  /// `base` to the power of `exponent` modulo the prime. Each bit costs the same, whatever it is.
  static func power(_ base: Number, _ exponent: [UInt8]) -> Number {
    // R = 2^1024 modulo the prime is the prime's distance from 2^1024; R^2 comes of doubling it 1,024 times.
    var one = Number(repeating: 0, count: limbs)
    subtract(&one, prime)
    var square = one
    for _ in 0..<(limbs * 64) { double(&square) }
    let base = multiply(base, square)
    var result = one
    for byte in exponent {
      for bit in (0..<8).reversed() {
        result = multiply(result, result)
        let product = multiply(result, base)
        let mask = 0 &- UInt64(byte >> UInt8(bit) & 1)
        for place in 0..<limbs {
          result[place] = product[place] & mask | result[place] & ~mask
        }
      }
    }
    return multiply(result, number([1]))
  }

  /// `a * b / 2^1024` modulo the prime, after Montgomery.
  private static func multiply(_ a: Number, _ b: Number) -> Number {
    var t = [UInt64](repeating: 0, count: limbs + 2)
    for i in 0..<limbs {
      add(b, times: a[i], to: &t)
      // The prime ends with 64 ones, so that its negative inverse modulo 2^64 is 1.
      add(prime, times: t[0], to: &t)
      for place in 0..<(limbs + 1) { t[place] = t[place + 1] }
      t[limbs + 1] = 0
    }
    var reduced = Array(t[..<limbs])
    let borrow = subtract(&reduced, prime)
    // The result was below the prime if the subtraction went below zero and nothing lay above.
    let keeps = 0 &- UInt64(borrow > t[limbs] ? 1 : 0)
    for place in 0..<limbs { reduced[place] = t[place] & keeps | reduced[place] & ~keeps }
    return reduced
  }

  private static func add(_ number: Number, times factor: UInt64, to sum: inout [UInt64]) {
    var carry: UInt64 = 0
    for place in 0..<limbs {
      let (high, low) = number[place].multipliedFullWidth(by: factor)
      let (first, over) = low.addingReportingOverflow(sum[place])
      let (second, again) = first.addingReportingOverflow(carry)
      sum[place] = second
      carry = high &+ (over ? 1 : 0) &+ (again ? 1 : 0)
    }
    for place in limbs..<(limbs + 2) {
      let (value, over) = sum[place].addingReportingOverflow(carry)
      sum[place] = value
      carry = over ? 1 : 0
    }
  }

  @discardableResult
  private static func subtract(_ a: inout Number, _ b: Number) -> UInt64 {
    var borrow: UInt64 = 0
    for place in 0..<limbs {
      let (first, under) = a[place].subtractingReportingOverflow(b[place])
      let (second, again) = first.subtractingReportingOverflow(borrow)
      a[place] = second
      borrow = (under ? 1 : 0) + (again ? 1 : 0)
    }
    return borrow
  }

  private static func double(_ number: inout Number) {
    var carry: UInt64 = 0
    for place in 0..<limbs {
      let next = number[place] >> 63
      number[place] = number[place] << 1 | carry
      carry = next
    }
    if carry == 1 || !isLess(number, prime) { subtract(&number, prime) }
  }
}
