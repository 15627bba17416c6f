import Foundation
import TestSupport
import Testing

/// The corpus of the fuzzer: inputs that reach far into a parser, and those that once broke one.
@Suite struct CorpusTests {
  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus")

  @Test(arguments: FuzzedParser.all.map(\.name))
  func `each input of the corpus keeps what its parser promises`(name: String) throws {
    let parser = try #require(FuzzedParser.all.first { $0.name == name })
    let files = try FileManager.default.contentsOfDirectory(
      at: Self.folder.appending(path: name), includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      do throws(FuzzedParser.Finding) {
        try parser.run(bytes)
      } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
  }

  @Test func `each folder of the corpus belongs to a parser`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(folders) == Set(FuzzedParser.all.map(\.name)))
  }
}
