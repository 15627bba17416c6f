import InMemoryTracing
import MetricsTestKit
import Tracing

extension [FinishedInMemorySpan] {
  /// The spans below their parents, each with its depth.
  var tree: [(depth: Int, span: FinishedInMemorySpan)] {
    let known = Set(map(\.spanID))
    let children = Dictionary(grouping: self) { span in
      span.parentSpanID.flatMap { known.contains($0) ? $0 : nil } ?? ""
    }
    func below(_ id: String, _ depth: Int) -> [(depth: Int, span: FinishedInMemorySpan)] {
      (children[id] ?? []).flatMap { [(depth, $0)] + below($0.spanID, depth + 1) }
    }
    return below("", 0)
  }
}

extension FinishedInMemorySpan {
  /// The attributes, sorted, as `key=value`.
  var details: String {
    var pairs: [String] = []
    attributes.forEach { key, value in
      switch value.toSpanAttribute() {
      case .string(let text): pairs.append("\(key)=\(text)")
      case .int32(let number): pairs.append("\(key)=\(number)")
      case .int64(let number): pairs.append("\(key)=\(number)")
      default: break
      }
    }
    return pairs.sorted().joined(separator: " ")
  }
}

extension TestMetrics {
  /// A line for each counter and each timer, sorted.
  var lines: [String] {
    func name(_ label: String, _ dimensions: [(String, String)]) -> String {
      "\(label) \(dimensions.map { "\($0)=\($1)" }.joined(separator: " "))"
    }
    let counts = counters.map { "\(name($0.label, $0.dimensions)): \($0.totalValue)" }
    let times = timers.map { timer in
      let microseconds = timer.values.reduce(0, +) / 1_000
      return "\(name(timer.label, timer.dimensions)): \(timer.values.count) in \(microseconds) µs"
    }
    return (counts + times).sorted()
  }
}
