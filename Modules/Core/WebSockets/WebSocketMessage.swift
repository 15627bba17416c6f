/// A message of a WebSocket, in either direction.
public enum WebSocketMessage: Sendable, Equatable {
  case text(String)
  case binary([UInt8])
}

/// The size alone: a message may hold data of records.
extension WebSocketMessage: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String {
    switch self {
    case .text(let text): "text of \(text.utf8.count) bytes"
    case .binary(let bytes): "\(bytes.count) bytes"
    }
  }
  public var debugDescription: String { description }
}
