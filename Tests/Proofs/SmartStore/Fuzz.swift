import TestSupport

/// Runs a property on inputs drawn from seeds, more of them with more ``Effort``.
enum Fuzz {
  /// Calls `body` once for each round with the round's seed and its random numbers.
  static func run(
    _ name: String, rounds: Int,
    _ body: (UInt64, inout SeededGenerator) async throws -> Void
  ) async throws {
    let first = Effort.seed(1)
    let rounds = UInt64(Effort.times(rounds))
    print("Fuzz \(name): seeds \(first) to \(first &+ rounds &- 1)")
    for round in 0..<rounds {
      let seed = first &+ round
      var random = SeededGenerator(seed: seed)
      try await body(seed, &random)
    }
  }
}

extension SeededGenerator {
  mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

  mutating func pick<T>(_ items: [T]) -> T { items[pick(items.count)] }

  /// A text with a few pieces put in, cut out or repeated.
  mutating func mutated(_ text: String, with pieces: [String]) -> String {
    var characters = text.map(String.init)
    for _ in 0...pick(3) {
      let place = pick(characters.count + 1)
      switch pick(5) {
      case 0, 1: characters.insert(pick(pieces), at: place)
      case 2 where place < characters.count: characters.remove(at: place)
      case 3 where place < characters.count:
        let end = min(characters.count, place + 1 + pick(12))
        characters.insert(contentsOf: characters[place..<end], at: pick(characters.count + 1))
      default: characters.removeLast(pick(characters.count - place + 1))
      }
    }
    return characters.joined()
  }
}
