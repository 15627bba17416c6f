import Foundation

/// One GET over a socket of its own, to an address that is not looked up: Foundation's client on
/// Linux loses the brackets of an IPv6 address.
///
/// - Returns: The first line of the response; nil if no process listens there.
func plainGet(_ path: String, address: String, port: Int, host: String) -> String? {
  var hints = addrinfo()
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
  var found: UnsafeMutablePointer<addrinfo>?
  guard getaddrinfo(address, "\(port)", &hints, &found) == 0, let place = found else { return nil }
  defer { freeaddrinfo(found) }
  #if canImport(Glibc)
    let stream = Int32(SOCK_STREAM.rawValue)
  #else
    let stream = SOCK_STREAM
  #endif
  let descriptor = socket(place.pointee.ai_family, stream, 0)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  guard connect(descriptor, place.pointee.ai_addr, place.pointee.ai_addrlen) == 0 else {
    return nil
  }
  let request = Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
  guard write(descriptor, request, request.count) == request.count else { return nil }
  var answer = [UInt8](repeating: 0, count: 4096)
  let count = read(descriptor, &answer, answer.count)
  guard count > 0 else { return nil }
  return String(decoding: answer.prefix(count), as: UTF8.self).split(separator: "\r\n").first
    .map(String.init)
}
