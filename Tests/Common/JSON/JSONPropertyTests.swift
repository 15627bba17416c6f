import SalesforceSDKCommon
import Testing
import TestSupport

/// What must hold of every JSON text, tried on seeded random ones.
struct JSONPropertyTests {
  @Test(.covers("CA-21"), arguments: 0..<40 as Range<UInt64>)
  func `any value survives being written in any way and read again`(seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    for _ in 0..<25 {
      let value = random.value(depth: 4)
      let compact = try JSONSlice(parsing: value.serialized())
      #expect(compact.value == value)
      let slice = try JSONSlice(parsing: random.text(of: value))
      #expect(slice.value == value)
      #expect(slice.value.text == value.text)
      #expect(slice.value.hashValue == value.hashValue)
      // Without its blanks the text still means the same.
      #expect(try JSONSlice(parsing: slice.compactText).value == value)
    }
  }

  @Test(arguments: 100..<140 as Range<UInt64>)
  func `a mutated text is accepted exactly if the reference recogniser accepts it`(
    seed: UInt64
  ) throws {
    var random = RandomJSON(seed: seed)
    let interesting =
      Array("{}[]\",:\\ \t\n0123456789.-+eEtfnu/abAB\u{1}".utf8) + [
        0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5, 0xff, 0xa0, 0x9f, 0x90,
      ]
    for _ in 0..<10 {
      let value = random.value(depth: 3)
      let text = Array(random.text(of: value).utf8)
      for _ in 0..<30 {
        var mutated = text
        for _ in 0...random.pick(2) {
          let place = random.pick(mutated.count + 1)
          let byte = interesting[random.pick(interesting.count)]
          switch random.pick(4) {
          case 0: mutated.insert(byte, at: place)
          case 1 where place < mutated.count: mutated.remove(at: place)
          case 2: mutated.removeLast(mutated.count - place)
          default:
            if place < mutated.count { mutated[place] = byte }
          }
        }
        let accepted = (try? JSONSlice(parsing: mutated)) != nil
        #expect(
          accepted == ReferenceRecogniser.accepts(mutated),
          "seed \(seed): \(String(decoding: mutated, as: UTF8.self)) \(mutated)")
      }
    }
  }

  @Test func `every sequence of up to four bytes in a string is judged as Unicode judges it`() {
    let leads: [UInt8] = [
      0x41, 0x7f, 0x80, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff,
    ]
    let trails: [UInt8] = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
    for padding in [0, 5, 8] {
      let start = [0x22] + [UInt8](repeating: 0x61, count: padding)
      for lead in leads {
        for two in trails {
          for three in trails {
            for four in trails {
              let text = start + [lead, two, three, four, 0x22]
              let isText = String(validating: text, as: UTF8.self) != nil
              #expect(((try? JSONSlice(parsing: text)) != nil) == isText, "\(text)")
            }
          }
        }
      }
    }
  }

  @Test(arguments: 200..<230 as Range<UInt64>)
  func `a splice changes what it names and keeps every other byte`(seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    for _ in 0..<20 {
      var object = JSONObject()
      for _ in 0..<random.pick(7) { object[random.string()] = random.value(depth: 2) }
      let slice = try JSONSlice(parsing: " " + random.text(of: .object(object)) + "\n")
      var candidates = object.keys + ["__local__", "_soupEntryId"]
      candidates.shuffle(using: &random.generator)
      let set = candidates.prefix(random.pick(3)).map { (key: $0, value: random.value(depth: 2)) }
      let removed = Array(candidates.suffix(random.pick(3)))

      let result = try slice.setting(set, removing: removed)
      var expected = object
      for key in removed where !set.contains(where: { $0.key == key }) { expected[key] = nil }
      for (key, value) in set { expected[key] = value }
      #expect(result.value == .object(expected))
      #expect(result.members.map(\.key) == expected.keys)
      for (key, value) in result.members where !set.contains(where: { $0.key == key }) {
        #expect(slice[key]?.utf8 == value.utf8)
      }
    }
  }

  @Test(arguments: 300..<330 as Range<UInt64>)
  func `a projection of the text is the projection of the value`(seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    for _ in 0..<20 {
      let value = random.value(depth: 5)
      let slice = try JSONSlice(parsing: random.text(of: value))
      for path in ["", "a", "Id.a", "a.Id.a", ".", "0", "Id.ü"] {
        #expect(slice.project(JSONPath(path)).value == value.project(JSONPath(path)))
      }
    }
  }
}
