import Foundation
import TestSupport
import Testing

@testable import DBusClient

/// The form of D-Bus messages: what is written is read again, and nothing else ends the process.
struct DBusFormTests {
  private let values: [DBusValue] = [
    .byte(7), .bool(true), .int16(-2), .uint16(65_535), .int32(-3), .uint32(.max), .int64(.min),
    .uint64(.max), .double(-0.5), .string("ключ"), .objectPath("/a/b"), .signature("a{sv}"),
    .bytes([1, 2, 3]), .array("s", [.string("a"), .string("")]), .array("t", []),
    .texts(["a": "b"]), .dictionary("s", "v", [(.string("x"), .variant(.bytes([9])))]),
    .structure([.byte(1), .uint64(2), .structure([.string("in")])]),
    .variant(.variant(.structure([.bool(false)]))),
    .array("(yv)", [.structure([.byte(1), .variant(.uint64(5))])]),
  ]

  private var message: DBusMessage {
    var message = DBusMessage(.call, serial: 5)
    message.path = "/org/freedesktop/secrets"
    message.member = "OpenSession"
    message.interface = "org.freedesktop.Secret.Service"
    message.destination = "org.freedesktop.secrets"
    message.body = values
    return message
  }

  @Test func `messages are read as they were written`() throws {
    #expect(try DBusMessage(message.bytes) == message)
    for value in values {
      var one = DBusMessage(.result, serial: 1)
      one.replySerial = 77
      one.body = [value]
      #expect(try DBusMessage(one.bytes) == one)
    }
    #expect(try DBusMessage.length(message.bytes) == message.bytes.count)
  }

  @Test func `a message has the bytes of the specification`() {
    var hello = DBusMessage(.call, serial: 1)
    hello.path = "/"
    hello.member = "M"
    #expect(
      hello.bytes == [
        0x6c, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 26, 0, 0, 0, 1, 1, 0x6f, 0, 1, 0, 0, 0, 0x2f, 0, 0,
        0,
        0, 0, 0, 0, 3, 1, 0x73, 0, 1, 0, 0, 0, 0x4d, 0, 0, 0, 0, 0, 0, 0,
      ])
  }

  @Test func `any change of a message is read or refused, and nothing else`() {
    let bytes = message.bytes
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<3_000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: changed.indices, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: changed[place] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: changed.removeLast(min(changed.count - 1, Int.random(in: 1...9, using: &generator)))
        default: changed.insert(UInt8.random(in: 0...2, using: &generator), at: place)
        }
      }
      _ = try? DBusMessage(changed)
    }
    for length in 0..<bytes.count {
      #expect(throws: DBusError.self) { try DBusMessage(Array(bytes.prefix(length))) }
    }
  }

  @Test(arguments: [
    "a", "(", "()", "(s", "a{s}", "a{vs}", "a{sss}", "{ss}", "z", "s)",
    String(repeating: "a", count: 80) + "y",
    String(repeating: "y", count: 256),
  ])
  func `a signature that is none is refused`(signature: String) {
    #expect(throws: DBusError.self) { try DBusSignature.types(in: signature) }
  }

  @Test func `the addresses of a bus are read as the specification has them`() {
    func paths(_ address: String?, _ environment: [String: String] = [:]) -> [String] {
      DBusConnection.paths(.session, address, environment).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    #expect(paths("unix:path=/tmp/a%20b,guid=1;unix:abstract=/x") == ["/tmp/a b", "\0/x"])
    #expect(
      paths(
        "tcp:host=h;unixexec:path=/bin/sh;autolaunch:;unix:tmpdir=/tmp;unix:path=%zz;unix:path=%2")
        == [])
    #expect(paths(nil, ["XDG_RUNTIME_DIR": "/run/user/1"]) == ["/run/user/1/bus"])
    #expect(
      paths(nil, ["DBUS_SESSION_BUS_ADDRESS": "unix:runtime=yes", "XDG_RUNTIME_DIR": "/r"]) == [
        "/r/bus"
      ])
    #expect(paths(nil, [:]).isEmpty)
    let system = DBusConnection.paths(.system, nil, ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/s"])
    #expect(system == [Array("/run/dbus/system_bus_socket".utf8)])
  }
}
