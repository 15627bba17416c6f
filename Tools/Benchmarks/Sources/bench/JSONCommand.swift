import ArgumentParser
import Foundation
import SalesforceSDKCommon

/// Writes one page of sample records, as a query returns it.
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "page")
  @Option var records = 2000
  @Option var out: String

  func run() throws {
    let body = SamplePage.body(0..<records, total: records)
    try Data(body).write(to: URL(filePath: out))
    try Measurement(bytes: body.count).print()
  }
}

/// Reads one page of records in one of several ways.
struct JSONCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "json")
  enum Way: String, ExpressibleByArgument { case index, project, foundation }
  @Argument var way: Way
  @Argument var file: String
  @Option var rounds = 50

  func run() throws {
    let body = Array(try Data(contentsOf: URL(filePath: file)))
    let paths = ["Id", "Name", "NumberOfEmployees", "AnnualRevenue", "attributes.type"].map {
      JSONPath($0)
    }
    let seconds =
      switch way {
      case .index:
        try medianSeconds(rounds: rounds) { blackHole(try JSONSlice(parsing: body).count) }
      case .project:
        try medianSeconds(rounds: rounds) {
          guard let records = try JSONSlice(parsing: body)["records"] else { return }
          for record in records.elements {
            for path in paths { blackHole(record.project(path)) }
          }
        }
      case .foundation:
        try medianSeconds(rounds: rounds) {
          blackHole(try JSONSerialization.jsonObject(with: Data(body)))
        }
      }
    try Measurement(seconds: seconds).print()
  }
}

/// Prevents the optimiser from removing an unused value.
@inline(never)
func blackHole<T>(_ value: T) {}
