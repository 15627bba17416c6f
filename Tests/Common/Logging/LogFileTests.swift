import Foundation
import TestSupport
import Testing

@testable import SalesforceSDKCommon

/// CA-15: the last records of a component in a file.
@Suite struct LogFileTests {
  private func record(
    _ message: String, tag: String? = nil, level: LogLevel = .info, error: String? = nil
  ) -> LogRecord {
    LogRecord(
      component: "A b", level: level, tag: tag, message: message, errorText: error, error: nil,
      file: "Module/File.swift", function: "f", line: 1)
  }

  private func messages(_ lines: [String]) -> [String] {
    lines.map { $0.components(separatedBy: "MESSAGE: ").last ?? "" }
  }

  @Test(.covers("CA-15"))
  func `a line tells time, level, tag, message and error`() throws {
    // Noon of a summer's day in UTC; the text is that of the machine's zone.
    let seconds = 1_720_785_600
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "MM-dd HH:mm:ss"
    let expected = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
    let time = LocalTime(seconds: seconds, milliseconds: 7)
    #expect(time.text == "\(expected).007")
    #expect(
      LogFile.line(of: record("Grüße", tag: "T", level: .warn, error: "why"), at: time)
        == "TIME: \(expected).007, LEVEL: WARN, TAG: T, MESSAGE: Grüße, EXCEPTION: why")
    #expect(
      LogFile.line(of: record("m"), at: time)
        == "TIME: \(expected).007, LEVEL: INFO, TAG: A b, MESSAGE: m")
  }

  @Test(.covers("CA-15"))
  func `lines are read, taken and removed in order, and survive a restart`()
    async throws
  {
    let folder = try TemporaryFolder()
    let file = LogFile(component: "A b", in: folder.url)
    #expect(file.url.lastPathComponent == "A%20b_log")
    #expect(await file.size() == 0)
    #expect(await file.peek() == nil && file.isEnabled)
    for number in 0..<10 { file.add(record("ü \(number)")) }
    #expect(await file.size() == 10)
    #expect(messages([await file.peek() ?? ""]) == ["ü 0"])
    #expect(await file.readAndRemove(-1).isEmpty)
    #expect(messages(await file.readAndRemove(3)) == ["ü 0", "ü 1", "ü 2"])
    #expect(await file.remove(2))
    let again = LogFile(component: "A b", in: folder.url)
    #expect(messages(await again.readAll()) == (5..<10).map { "ü \($0)" })
    again.add(record("last"))
    #expect(messages(await again.readAndRemoveAll()).last == "last")
    #expect(await again.size() == 0)
    again.add(record("gone"))
    #expect(await again.flush())
    #expect(await again.readAll().isEmpty)
  }

  @Test(.covers("CA-15", "BX-100"), arguments: [1, 3, 70, 500])
  func `a full file lets the oldest lines go`(limit: Int) async throws {
    let folder = try TemporaryFolder()
    let file = LogFile(component: "c", in: folder.url)
    file.enable(maxLines: limit)
    for number in 0..<1_000 { file.add(record("\(number)")) }
    #expect(messages(await file.readAll()) == ((1_000 - limit)..<1_000).map { "\($0)" })
    #expect(await file.size() == limit)
    // The file itself stays near the limit.
    let lines = try String(contentsOf: file.url, encoding: .utf8).split(separator: "\n").count
    #expect(lines <= limit + max(limit / 4, 64))
  }

  @Test(.covers("CA-15"))
  func `the limit is remembered, and a lower one trims with the next line`()
    async throws
  {
    let folder = try TemporaryFolder()
    let file = LogFile(component: "c", in: folder.url)
    #expect(file.maxLines == LogFile.defaultMaxLines)
    for number in 0..<5 { file.add(record("\(number)")) }
    file.enable(maxLines: 2)
    #expect(await file.size() == 5)
    file.add(record("5"))
    #expect(messages(await file.readAll()) == ["4", "5"])
    let again = LogFile(component: "c", in: folder.url)
    #expect(again.maxLines == 2)
    again.enable(maxLines: -3)
    #expect(again.maxLines == 0 && !again.isEnabled)
    again.add(record("not written"))
    #expect(await again.size() > 0)
    #expect(LogFile(component: "c", in: folder.url).isEnabled == false)
    again.enable()
    #expect(again.maxLines == LogFile.defaultMaxLines)
  }

  @Test(.covers("CA-15"))
  func `a folder that cannot be written loses lines and nothing else`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("no folder")
    try Data().write(to: file)
    let log = LogFile(component: "c", in: file)
    log.add(record("lost"))
    log.enable(maxLines: 3)
    #expect(await log.size() == 0)
    #expect(await log.readAndRemoveAll().isEmpty)
    #expect(log.maxLines == 3)
  }

  @Test(.covers("CA-15"))
  func `a line that a crash cut off is no line`() async throws {
    let folder = try TemporaryFolder()
    let log = LogFile(component: "c", in: folder.url)
    try Data("one\ntwo\nthr".utf8).write(to: log.url)
    #expect(await log.size() == 2)
    #expect(await log.readAll() == ["one", "two"])
  }

  @Test(.covers("CA-15")) func `no file is written until the program names a folder`() {
    let registry = LogRegistry(environment: "")
    // Not the shared one, whose folder another test names.
    #expect(registry.file(of: "LogFileTests.none") == nil)
  }

  @Test(.covers("CA-15", "HT-90.1"))
  func `the records of a logger come to its file`() async throws {
    let folder = try TemporaryFolder()
    LogConfiguration.writeFiles(in: folder.url)
    defer { LogRegistry.shared.writeFiles(in: nil) }
    let logger = SalesforceLogger.logger(forComponent: "LogFileTests")
    logger.level = .off
    logger.error("not written")
    logger.level = .fault
    logger.fault("access_token=1234567890\nb", tag: "T")
    let file = try #require(logger.file)
    let line = try #require(await file.peek())
    #expect(line.hasSuffix(#", LEVEL: FAULT, TAG: T, MESSAGE: access_token=******7890\nb"#))
  }
}
