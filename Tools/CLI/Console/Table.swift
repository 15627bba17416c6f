import SalesforceSDKCommon

/// Rows with named columns.
///
/// On a terminal they are aligned below a line of headers, or, where the window is too narrow for that, each is a
/// block of lines `name  value`. Elsewhere a row is one line of values between tabs, without headers, for programs.
struct Table {
  private let headers: [String]
  private let rows: [[String]]

  /// - Parameters:
  ///   - headers: As many as the widest row has values.
  ///   - rows: Control characters in the values, line ends among them, are escaped.
  init(_ headers: [String], _ rows: [[String]]) {
    self.headers = headers.map { TerminalText.escaped($0, keepsLines: false) }
    self.rows = rows.map { row in row.map { TerminalText.escaped($0, keepsLines: false) } }
  }

  /// The lines for a stream.
  func lines(for terminal: Terminal) -> [String] {
    if rows.isEmpty { return [] }
    guard terminal.isTerminal else { return rows.map { $0.joined(separator: "\t") } }
    let columns = terminal.columns
    let widths = widths
    return widths.reduce(0, +) + 2 * (widths.count - 1) <= columns
      ? aligned(widths, terminal) : blocks(columns, terminal)
  }

  private var widths: [Int] {
    headers.indices.map { column in
      rows.reduce(headers[column].displayWidth) { width, row in
        max(width, column < row.count ? row[column].displayWidth : 0)
      }
    }
  }

  private func aligned(_ widths: [Int], _ terminal: Terminal) -> [String] {
    func line(_ cells: [String]) -> [String] {
      cells.enumerated().map { column, cell in
        column == cells.count - 1 ? cell : cell.padded(to: widths[column] + 2)
      }
    }
    return [terminal.styled(line(headers).joined(), .heading)] + rows.map { line($0).joined() }
  }

  /// Values longer than the window continue on its next line, so that none is cut.
  private func blocks(_ columns: Int, _ terminal: Terminal) -> [String] {
    let width = min(headers.map(\.displayWidth).max() ?? 0, max(columns / 2, 1))
    let rule = terminal.styled(String(repeating: "-", count: min(columns, 40)), .faint)
    return rows.enumerated().flatMap { index, row in
      (index == 0 ? [] : [rule])
        + zip(headers, row).map { name, value in
          terminal.styled(name.truncated(to: width).padded(to: width), .heading) + "  \(value)"
        }
    }
  }
}
