/// The upload order of records that refer to each other: referenced records first.
///
/// It has numbers and names, but no records. Cost: linear in records and references.
struct RunOrder: Sendable, Equatable {
  /// A record of the run.
  struct Node: Sendable, Equatable {
    let number: Int64
    /// The name by which others refer to it, if they can.
    let name: String?
    /// The names that it refers to; those of no node do not count.
    let references: [String]
  }

  /// Records that can go together, level by level: each refers to records of earlier levels alone.
  private(set) var levels: [[Int64]] = []
  /// References that close a cycle, by record: they are uploaded later, when all records exist.
  private(set) var leftOut: [Int64: Set<String>] = [:]

  /// Orders records; within a level, they keep their order.
  init(_ nodes: [Node]) {
    var byName: [String: Int] = [:]
    for (index, node) in nodes.enumerated() {
      if let name = node.name { byName[name] = index }
    }
    var missing = [Int](repeating: 0, count: nodes.count)
    var followers = [[Int]](repeating: [], count: nodes.count)
    for (index, node) in nodes.enumerated() {
      for target in Set(node.references.compactMap { byName[$0] }) {
        if target == index {
          leftOut[node.number, default: []].formUnion(node.name.map { [$0] } ?? [])
        } else {
          missing[index] += 1
          followers[target].append(index)
        }
      }
    }
    var isPlaced = [Bool](repeating: false, count: nodes.count)
    var level = nodes.indices.filter { missing[$0] == 0 }
    var firstUnplaced = 0
    while true {
      if level.isEmpty {
        while firstUnplaced < nodes.count, isPlaced[firstUnplaced] { firstUnplaced += 1 }
        if firstUnplaced == nodes.count { return }
        // A circle: its first record goes without what it refers to.
        let node = nodes[firstUnplaced]
        let open = node.references.filter { byName[$0].map { !isPlaced[$0] } ?? false }
        leftOut[node.number, default: []].formUnion(open)
        level = [firstUnplaced]
      }
      levels.append(level.map { nodes[$0].number })
      var next: [Int] = []
      for index in level { isPlaced[index] = true }
      for index in level {
        for follower in followers[index] {
          missing[follower] -= 1
          if missing[follower] == 0, !isPlaced[follower] { next.append(follower) }
        }
      }
      level = next.sorted()
    }
  }
}
