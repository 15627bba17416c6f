import HybridServer
import SalesforceHybridSDK
import SalesforceSDKCommon
import TestSupport
import Testing

/// Do calls over the socket get their response, whatever else arrives on it?
struct SocketTests {
  static func call(_ id: Int, _ argument: String) -> String {
    #"{"id":\#(id),"service":"echo","action":"echo","args":[\#(argument)]}"#
  }

  @Test(.covers("HT-5"))
  func `calls get responses over the socket, also in fragments and between pings`()
    async throws
  {
    try await ServedApp.with { app async throws in
      try await app.withSocket { socket in
        try await socket.send(call: Self.call(1, #""é\u2028""#))
        #expect(try await socket.frame()?.text == #"{"id":1,"status":"ok","value":["é\#u{2028}"]}"#)
        let text = Array(Self.call(2, "[1,2]").utf8)
        try await socket.send(frame: Array(text[..<10]), isLast: false)
        try await socket.send(frame: Array("ping".utf8), opcode: 9)
        try await socket.send(frame: Array(text[10..<20]), opcode: 0, isLast: false)
        try await socket.send(frame: Array(text[20...]), opcode: 0)
        let pong = try await socket.frame()
        #expect(pong?.opcode == 10)
        #expect(pong?.text == "ping")
        #expect(try await socket.frame()?.text == #"{"id":2,"status":"ok","value":[[1,2]]}"#)
        try await socket.send(frame: [0x03, 0xe8], opcode: 8)
        #expect(try await socket.frame()?.code == 1000)
        #expect(try await socket.frame() == nil)
      }
    }
  }

  @Test(.covers("HT-5"))
  func `messages of any length arrive as they were sent, also in fragments of any length`()
    async throws
  {
    try await ServedApp.with { app async throws in
      try await app.withSocket { socket in
        for length in 0..<40 {
          let text = String("äbcdefghij0123456789klmnopqrstuvwxyzABCDEFGHIJ".prefix(length))
          let call = Array(Self.call(length, "\"\(text)\"").utf8)
          try await socket.send(frame: Array(call[..<length]), isLast: false)
          try await socket.send(frame: Array(call[length...]), opcode: 0)
          let response = try await socket.frame()?.text
          #expect(response == #"{"id":\#(length),"status":"ok","value":["\#(text)"]}"#)
        }
      }
    }
  }

  @Test(.covers("HT-5"))
  func `a thousand calls at once get responses`() async throws {
    try await ServedApp.with { app async throws in
      try await app.withSocket { socket in
        for id in 0..<1_000 { try await socket.send(call: Self.call(id, "\(id)")) }
        var ids: Set<Int64> = []
        for _ in 0..<1_000 {
          let frame = try #require(try await socket.frame())
          ids.insert(try #require(try JSONSlice(parsing: frame.text)["id"]?.int64))
        }
        #expect(ids.count == 1_000)
      }
    }
  }

  @Test
  func `a frame of 16 MiB is a call, and a longer one closes its socket alone`() async throws {
    try await ServedApp.with { app async throws in
      try await app.withSocket { other in
        let head = #"{"id":1,"service":"echo","action":"count","args":[""#
        let limit = 16 << 20
        let padding = String(repeating: "x", count: limit - head.utf8.count - 3)
        try await app.withSocket { socket in
          try await socket.send(call: head + padding + #""]}"#)
          let count = padding.utf8.count + 2
          #expect(try await socket.frame()?.text == #"{"id":1,"status":"ok","value":\#(count)}"#)
          // The server does not read to the end of what is too long.
          try? await socket.send(call: head + padding + #"x"]}"#)
          let frame = try? await socket.frame()
          #expect(frame == nil || frame?.code == 1009)
        }
        try await other.send(call: Self.call(3, "3"))
        #expect(try await other.frame()?.text == #"{"id":3,"status":"ok","value":[3]}"#)
      }
    }
  }

  @Test
  func `broken frames close their socket with a code, and the server goes on`() async throws {
    try await ServedApp.with { app async throws in
      let cases: [(Int, @Sendable (RawConnection) async throws -> Void)] = [
        (1007, { try await $0.send(call: "{") }),
        (1007, { try await $0.send(call: "{}") }),
        (1007, { try await $0.send(frame: [0x22, 0xff, 0x22]) }),
        (1003, { try await $0.send(frame: [1, 2, 3], opcode: 2) }),
        (1002, { try await $0.send(frame: [0x7b], opcode: 0) }),
        (1002, { try await $0.send(frame: Array("{}".utf8), isMasked: false) }),
        (1002, { try await $0.send(bytes: [0xf1, 0x80, 0, 0, 0, 0]) }),
        (
          1002,
          {
            try await $0.send(frame: [0x7b], isLast: false)
            try await $0.send(frame: [0x7b])
          }
        ),
        (
          1007,
          {
            try await $0.send(call: String(repeating: "[", count: 10_000))
          }
        ),
      ]
      for (number, (code, send)) in cases.enumerated() {
        try await app.withSocket { socket in
          try await send(socket)
          #expect(try await socket.frame()?.code == code, "case \(number)")
        }
      }
      try await app.withSocket { socket in
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        try await socket.send(call: Self.call(1, deep))
        #expect(try await socket.frame()?.text.contains(#""id":1,"status":"error""#) == true)
        try await socket.send(call: Self.call(2, "2"))
        #expect(try await socket.frame()?.text == #"{"id":2,"status":"ok","value":[2]}"#)
      }
    }
  }

  @Test
  func `sockets that go away without a word leave no session`() async throws {
    try await ServedApp.with { app async throws in
      for _ in 0..<30 {
        try await app.withSocket { socket in
          try await socket.send(call: Self.call(1, "1"))
          // Half of a frame.
          try await socket.send(bytes: [0x81, 0xfe, 0x10])
        }
      }
      try await poll { app.bridge.sessionCount == 0 }
    }
  }

  @Test
  func `a server that is stopped closes its sockets`() async throws {
    try await ServedApp.with { app async throws in
      try await app.withSocket { socket in
        try await socket.send(call: Self.call(1, "1"))
        _ = try await socket.frame()
        await app.server.stop()
        #expect(try await socket.frame() == nil)
        #expect(app.bridge.sessionCount == 0)
      }
    }
  }
}
