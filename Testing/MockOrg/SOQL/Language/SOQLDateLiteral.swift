/// A date literal such as `TODAY`, `LAST_N_DAYS:30` or `THIS_FISCAL_QUARTER`: a range of whole days
/// that is counted from the day of the query.
struct SOQLDateLiteral: Sendable, Equatable {
  enum Unit: String, Sendable, CaseIterable {
    case day = "DAY"
    case week = "WEEK"
    case month = "MONTH"
    case quarter = "QUARTER"
    case year = "YEAR"
    case fiscalQuarter = "FISCAL_QUARTER"
    case fiscalYear = "FISCAL_YEAR"
  }

  enum Reach: Sendable, Equatable {
    /// The unit `offset` units away: 0 for `THIS_MONTH`, -1 for `LAST_MONTH`, -n for `N_MONTHS_AGO:n`.
    case single(offset: Int)
    /// The n units before the current one; of days, today and the n days before it.
    case last(Int)
    /// The n units after the current one.
    case next(Int)
  }

  var unit: Unit
  var reach: Reach

  /// The literal of a name in whatever case and without its number, and whether it needs a number
  /// behind a colon; nil if the name is none.
  static func named(_ name: String) -> (takesNumber: Bool, make: @Sendable (Int) -> Self)? {
    let name = name.uppercased()
    switch name {
    case "YESTERDAY": return fixed(.day, .single(offset: -1))
    case "TODAY": return fixed(.day, .single(offset: 0))
    case "TOMORROW": return fixed(.day, .single(offset: 1))
    case "LAST_90_DAYS": return fixed(.day, .last(90))
    case "NEXT_90_DAYS": return fixed(.day, .next(90))
    default: break
    }
    for unit in Unit.allCases {
      let word = unit.rawValue
      switch name {
      case "THIS_\(word)" where unit != .day: return fixed(unit, .single(offset: 0))
      case "LAST_\(word)" where unit != .day: return fixed(unit, .single(offset: -1))
      case "NEXT_\(word)" where unit != .day: return fixed(unit, .single(offset: 1))
      case "LAST_N_\(word)S": return (true, { Self(unit: unit, reach: .last($0)) })
      case "NEXT_N_\(word)S": return (true, { Self(unit: unit, reach: .next($0)) })
      case "N_\(word)S_AGO": return (true, { Self(unit: unit, reach: .single(offset: -$0)) })
      default: continue
      }
    }
    return nil
  }

  private static func fixed(
    _ unit: Unit, _ reach: Reach
  ) -> (takesNumber: Bool, make: @Sendable (Int) -> Self) {
    (false, { _ in Self(unit: unit, reach: reach) })
  }

  /// The first day of the range and the first day after it, as seen on `today`.
  ///
  /// Weeks begin on Sunday and the fiscal year in January, as in an org with the locale `en_US`.
  func range(today: SOQLDate) -> Range<SOQLDate> {
    let first: Int
    let count: Int
    switch reach {
    case .single(let offset): (first, count) = (offset, 1)
    // Of the day literals alone, the current unit belongs to the range.
    case .last(let n): (first, count) = (-n, unit == .day ? n + 1 : n)
    case .next(let n): (first, count) = (1, n)
    }
    let start = begin(ofUnit: first, from: today)
    return start..<max(start, begin(ofUnit: first + count, from: today))
  }

  /// The first day of the unit that is `offset` units after the current one.
  private func begin(ofUnit offset: Int, from today: SOQLDate) -> SOQLDate {
    switch unit {
    case .day: today.adding(days: offset)
    case .week: today.adding(days: offset * 7 - today.weekday)
    case .month: SOQLDate(firstOfMonth: today.month + offset, year: today.year)
    case .quarter, .fiscalQuarter:
      SOQLDate(firstOfMonth: (today.month - 1) / 3 * 3 + 1 + offset * 3, year: today.year)
    case .year, .fiscalYear: SOQLDate(firstOfMonth: 1, year: today.year + offset)
    }
  }
}
