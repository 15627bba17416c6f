import CZlib

/// The gzip form of bodies, in both directions.
package enum Gzip {
  /// 15 bits of window, and 16 for gzip's frame around the stream.
  private static let gzipWindow: Int32 = 15 + 16
  /// 32 lets zlib find out whether a stream has gzip's frame or its own.
  private static let eitherWindow: Int32 = 15 + 32

  /// - Returns: nil if zlib has no memory.
  package static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    let opened = deflateInit2_(
      &stream, 1, Z_DEFLATED, gzipWindow, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard opened == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 32)
    let result = run(&stream, from: bytes, to: &output, offset: 0) { deflate(&$0, Z_FINISH) }
    guard result == Z_STREAM_END else { return nil }
    return Array(output.prefix(Int(stream.total_out)))
  }

  /// - Parameter limit: A body that would grow beyond it is refused.
  /// - Parameter takesMemory: Is called with each number of bytes before they are allocated; false ends
  ///   the expansion.
  /// - Returns: nil if the bytes are no gzip or zlib stream, end early or are too many.
  package static func expanded(
    _ bytes: [UInt8], limit: Int, takesMemory: (Int) -> Bool = { _ in true }
  ) -> [UInt8]? {
    var stream = z_stream()
    let opened = inflateInit2_(
      &stream, eitherWindow, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard opened == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    let first = min(limit, max(4096, bytes.count * 4))
    guard takesMemory(first) else { return nil }
    var output = [UInt8](repeating: 0, count: first)
    while true {
      let result = run(
        &stream, from: bytes, to: &output, offset: Int(stream.total_out),
        inputOffset: Int(stream.total_in)
      ) { inflate(&$0, Z_NO_FLUSH) }
      if result == Z_STREAM_END { return Array(output.prefix(Int(stream.total_out))) }
      guard result == Z_OK || result == Z_BUF_ERROR, stream.avail_out == 0, output.count < limit
      else { return nil }
      let more = min(output.count, limit - output.count)
      guard takesMemory(more) else { return nil }
      output += [UInt8](repeating: 0, count: more)
    }
  }

  private static func run(
    _ stream: inout z_stream, from input: [UInt8], to output: inout [UInt8], offset: Int,
    inputOffset: Int = 0, _ step: (inout z_stream) -> Int32
  ) -> Int32 {
    input.withUnsafeBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        // zlib's input pointer is mutable by its type alone.
        stream.next_in = UnsafeMutablePointer(
          mutating: source.baseAddress?.advanced(by: inputOffset))
        stream.avail_in = UInt32(source.count - inputOffset)
        stream.next_out = target.baseAddress?.advanced(by: offset)
        stream.avail_out = UInt32(target.count - offset)
        return step(&stream)
      }
    }
  }
}
