@testable import MobileSync
import Testing
import TestSupport

/// In which order are records uploaded that refer to each other?
@Suite struct RunOrderTests {
  private static func nodes(_ references: [[Int]]) -> [RunOrder.Node] {
    references.enumerated().map { index, targets in
      RunOrder.Node(
        number: Int64(index), name: "local_\(index)", references: targets.map { "local_\($0)" })
    }
  }

  /// Every record once, and each after what it refers to, unless that is left out.
  private static func check(
    _ nodes: [RunOrder.Node], sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let order = RunOrder(nodes)
    #expect(
      order.levels.flatMap(\.self).sorted() == nodes.map(\.number).sorted(),
      sourceLocation: sourceLocation)
    var seen: Set<String> = []
    for level in order.levels {
      for number in level {
        let node = nodes[Int(number)]
        let known = Set(nodes.compactMap(\.name))
        let needed = Set(node.references).intersection(known)
          .subtracting(order.leftOut[number] ?? [])
        #expect(needed.isSubset(of: seen), sourceLocation: sourceLocation)
      }
      seen.formUnion(level.compactMap { nodes[Int($0)].name })
    }
  }

  @Test func `every graph of four records is ordered`() {
    for bits in 0..<(1 << 16) where bits % 7 == 0 || bits < 4096 {
      let references = (0..<4).map { row in (0..<4).filter { bits >> (row * 4 + $0) & 1 == 1 } }
      Self.check(Self.nodes(references))
    }
  }

  @Test func `a graph without a circle leaves nothing out`() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<50 {
      let count = Int.random(in: 1...60, using: &random)
      let places = Array(0..<count).shuffled(using: &random)
      let references = (0..<count).map { index in
        (0..<count).filter {
          places[$0] < places[index] && Int.random(in: 0..<5, using: &random) == 0
        }
      }
      let nodes = Self.nodes(references)
      Self.check(nodes)
      #expect(RunOrder(nodes).leftOut.isEmpty)
    }
  }

  @Test func `records without references go together, in their order`() {
    let order = RunOrder(Self.nodes([[], [9], []]))
    #expect(order.levels == [[0, 1, 2]])
    #expect(order.leftOut.isEmpty)
  }

  @Test func `a long chain is one record per level, without a deep stack`() {
    let nodes = Self.nodes((0..<20_000).map { $0 == 0 ? [] : [$0 - 1] })
    #expect(RunOrder(nodes).levels.count == 20_000)
  }

  @Test func `a record that refers to itself goes at once, and again with the reference`() {
    let order = RunOrder(Self.nodes([[0]]))
    #expect(order.levels == [[0]])
    #expect(order.leftOut == [0: ["local_0"]])
  }
}
