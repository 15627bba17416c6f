/// The level of a record in a tree.
enum TreeLevel: Sendable, CaseIterable {
  case parents, children
}

/// A value for each level of a tree.
struct PerLevel<Value> {
  var parents: Value
  var children: Value

  subscript(level: TreeLevel) -> Value {
    get {
      switch level {
      case .parents: parents
      case .children: children
      }
    }
    set {
      switch level {
      case .parents: parents = newValue
      case .children: children = newValue
      }
    }
  }
}

extension PerLevel: Sendable where Value: Sendable {}
