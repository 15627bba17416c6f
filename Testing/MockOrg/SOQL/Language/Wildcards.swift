/// Texts with gaps, as LIKE and the words of searches have them.
enum Wildcards {
  enum Element: Sendable, Equatable {
    case scalar(Unicode.Scalar)
    case anyText
    case anyScalar
  }

  /// Whether the whole of `text` has the form of `elements`, whose scalars `fold` makes comparable with
  /// those of the text. The cost grows with the product of both lengths at most.
  static func match(
    _ elements: [Element], _ text: [Unicode.Scalar], fold: (Unicode.Scalar) -> Unicode.Scalar
  ) -> Bool {
    var position = 0
    var element = 0
    // Where to go back to: behind the last gap, one character further into the text each time.
    var retry: (element: Int, position: Int)?
    while position < text.count {
      if element < elements.count {
        switch elements[element] {
        case .anyText:
          element += 1
          retry = (element, position)
          continue
        case .anyScalar:
          element += 1
          position += 1
          continue
        case .scalar(let scalar) where fold(scalar) == text[position]:
          element += 1
          position += 1
          continue
        case .scalar: break
        }
      }
      guard let last = retry else { return false }
      retry = (last.element, last.position + 1)
      element = last.element
      position = last.position + 1
    }
    return elements[element...].allSatisfy { $0 == .anyText }
  }
}
