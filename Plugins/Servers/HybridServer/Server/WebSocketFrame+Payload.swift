import NIOCore
import NIOWebSocket

extension WebSocketFrame {
  /// The data without its mask, as a copy made in one pass, eight bytes at a time.
  ///
  /// NIO's `unmaskedData` copies first, unmasks byte by byte, and has to be copied again into an array.
  var payload: [UInt8] {
    guard let key = maskKey else { return Array(buffer: data) }
    let mask = (0..<4).reduce(UInt32(0)) { $0 | UInt32(key[$1]) << UInt32(8 * $1) }
    let word = (UInt64(mask) | UInt64(mask) << 32).littleEndian
    return data.withUnsafeReadableBytes { source in
      Array(unsafeUninitializedCapacity: source.count) { target, count in
        let bytes = UnsafeMutableRawBufferPointer(target)
        let words = source.count & ~7
        for offset in stride(from: 0, to: words, by: 8) {
          let masked = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          bytes.storeBytes(of: masked ^ word, toByteOffset: offset, as: UInt64.self)
        }
        for offset in words..<source.count { bytes[offset] = source[offset] ^ key[offset & 3] }
        count = source.count
      }
    }
  }
}
