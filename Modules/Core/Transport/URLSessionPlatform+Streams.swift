import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// How bodies are sent piece by piece, which URLSession of Apple's systems and the one of
// swift-corelibs-foundation do differently.

extension URLRequest {
  /// Sets a body that `exchange` reads while it is sent.
  mutating func setBody(_ body: UploadBody, of exchange: Exchange) {
    setValue("\(body.length)", forHTTPHeaderField: "Content-Length")
    #if canImport(FoundationNetworking)
      httpBodyStream = UploadInputStream(body, of: exchange)
      // Without it the body would be sent in chunks, in spite of its length. A header field of one blank
      // is never sent, but signals to libcurl that the caller decides.
      setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
    #else
      httpBodyStream = UploadPump.stream(for: body, of: exchange)
    #endif
  }
}

#if canImport(FoundationNetworking)
  /// Reads a body for URLSession, on the thread that sends it.
  private final class UploadInputStream: InputStream {
    private var reader: UploadReader
    private let exchange: Exchange
    private var status = Stream.Status.notOpen

    init(_ body: UploadBody, of exchange: Exchange) {
      reader = UploadReader(body)
      self.exchange = exchange
      super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }
    override func open() { status = .open }
    override func close() { status = .closed }
    override var hasBytesAvailable: Bool { status == .open }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
      do throws(TransportError) {
        let count = try reader.read(
          into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
        if count == 0 { status = .atEnd }
        return count
      } catch {
        status = .error
        exchange.refuse(error)
        return -1
      }
    }
  }
#else
  /// Writes a body into one end of a pair of streams, whose other end URLSession reads.
  private enum UploadPump {
    static func stream(for body: UploadBody, of exchange: Exchange) -> InputStream {
      var input: InputStream?
      var output: OutputStream?
      Stream.getBoundStreams(
        withBufferSize: 256 * 1024, inputStream: &input, outputStream: &output)
      guard let input, let output else { return InputStream(data: Data()) }
      let end = Handover(output)
      // Writing waits until URLSession has read, so it needs a thread that may wait.
      Thread.detachNewThread { write(body, to: end.stream, exchange) }
      return input
    }

    private static func write(_ body: UploadBody, to output: OutputStream, _ exchange: Exchange) {
      var reader = UploadReader(body)
      var piece = [UInt8](repeating: 0, count: 65_536)
      output.open()
      defer { output.close() }
      do throws(TransportError) {
        while true {
          let count = try reader.read(into: &piece)
          if count == 0 { return }
          var done = 0
          while done < count {
            let written = output.write(Array(piece[done..<count]), maxLength: count - done)
            if written <= 0 { return }
            done += written
          }
        }
      } catch {
        exchange.refuse(error)
      }
    }

    /// Carries a stream to the one thread that writes it.
    ///
    /// `@unchecked Sendable` because only one task uses the stream afterwards.
    private final class Handover: @unchecked Sendable {
      let stream: OutputStream
      init(_ stream: OutputStream) { self.stream = stream }
    }
  }
#endif
