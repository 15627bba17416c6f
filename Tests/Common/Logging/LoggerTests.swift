import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// What loggers write, and what they do not.
struct LoggerTests {
  @Test(.covers("CA-9"))
  func `a record is written if its level reaches the logger's`() {
    for threshold in LogLevel.allCases {
      let recorder = LogRecorder()
      let logger = recorder.logger(forComponent: "Test", level: threshold)
      logger.verbose("x")
      logger.debug("x")
      logger.info("x")
      logger.notice("x")
      logger.warning("x")
      logger.error("x")
      logger.fault("x")
      let all = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
      let written = all.dropFirst(Int(threshold.rawValue))
      #expect(recorder.lines == written.map { "\($0) Test [LoggerTests] x" })
    }
  }

  @Test(.covers("CA-11", "CA-19"))
  func `the message of a record that is not written is never made`() {
    let recorder = LogRecorder()
    let logger = recorder.logger(forComponent: "Test", level: .warn)
    var made = 0
    func message() -> String {
      made += 1
      return "text"
    }
    logger.debug(message())
    #expect(made == 0 && recorder.lines.isEmpty)
    logger.level = .debug
    logger.debug(message(), tag: "Sync", error: SecretStoreError(.locked, "is locked"))
    #expect(made == 1 && recorder.lines == ["debug Test [Sync] text: locked: is locked"])
  }

  @Test(.covers("CA-12.1", "CA-20.1"))
  func `a record is one line without tokens`() {
    let recorder = LogRecorder()
    recorder.logger(forComponent: "Test", level: .info).error("a\r\nb access_token=1234567890&x=1")
    recorder.logger(forComponent: "Test", level: .info).error("b", tag: "sid=1234567890\n")
    #expect(
      recorder.lines == [
        #"error Test [LoggerTests] a\r\nb access_token=******7890&x=1"#,
        #"error Test [sid=******7890\n] b"#,
      ])
  }

  @Test(.covers("CA-8.1"))
  func `a component has one logger and its level is its own`() {
    let logger = SalesforceLogger.logger(forComponent: "LoggerTests.one")
    #expect(logger === SalesforceLogger.logger(forComponent: "LoggerTests.one"))
    #expect(SalesforceLogger.components.contains("LoggerTests.one"))
    let other = SalesforceLogger.logger(forComponent: "LoggerTests.two")
    other.level = .off
    #expect(logger.level == LogConfiguration.buildLevel && !other.isEnabled(.fault))
    #expect(SalesforceLogger.default.component == "SFSDK")
  }

  @Test(.covers("CA-9"))
  func `the levels of both families have a place`() {
    #expect(
      [0, 1, 2, 16, 17, 3].map { LogLevel(osLogType: $0) } == [
        .default, .info, .debug, .error, .fault, nil,
      ])
    #expect(
      (0...6).map { LogLevel(androidLevel: $0) } == [
        nil, .verbose, .debug, .info, .warn, .error, .off,
      ])
    for level in LogLevel.allCases { #expect(LogLevel(level.description) == level) }
    #expect(LogLevel("WARNING") == .warn && LogLevel("loud") == nil)
  }

  @Test(.covers("CA-10"))
  func `levels are kept in a file, and a file of another format is reported`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("levels.json")
    let logger = SalesforceLogger.logger(forComponent: "LoggerTests.kept")
    try Data(#"{"LoggerTests.kept":"fault"}"#.utf8).write(to: file)
    try LogConfiguration.keepLevels(in: file)
    #expect(logger.level == .fault)
    logger.level = .warn
    #expect(try String(contentsOf: file, encoding: .utf8).contains(#""LoggerTests.kept":"warn""#))
    // Another file, since a level that another test sets is written to the first at any moment.
    let damaged = folder.file("damaged.json")
    try Data("[1]".utf8).write(to: damaged)
    var error = #expect(throws: LogError.self) { try LogConfiguration.keepLevels(in: damaged) }
    #expect(error?.code == .damaged && error?.message.contains(damaged.path) == true)
    error = #expect(throws: LogError.self) { try LogConfiguration.keepLevels(in: folder.url) }
    #expect(error?.code == .inputOutput && error?.message.contains(folder.url.path) == true)
    #expect(logger.level == .warn)
  }

  @Test(.covers("CA-9", "HT-90.1"))
  func `the environment sets the level of one component or of all others`() {
    let configuration = LogConfiguration("warn, SmartStore:debug,MobileSync : off,x:loud,,:")
    #expect(configuration.level(of: "SmartStore") == .debug)
    #expect(configuration.level(of: "MobileSync") == .off)
    #expect(configuration.level(of: "x") == .warn)
    #expect(LogConfiguration("").level(of: "x") == nil)
  }
}

/// What is taken out of text before it is logged.
struct RedactionTests {
  @Test func `a secret that was sent is masked wherever it stands, also as a part of an address`() {
    SecretsInUse.note("00DLogged!token.1")
    SecretsInUse.note(authorization: "Bearer 00DLogged!token.1+more")
    SecretsInUse.note("short")
    #expect(
      Redaction.redact("a 00DLogged!token.1, 00DLogged%21token.1 and 00DLogged!token.1+more, short")
        == "a [redacted], [redacted] and [redacted], short")
    #expect(Redaction.redact("00DLogged!token.") == "00DLogged!token.")
    let value: JSONValue = ["message": "Session 00DLogged!token.1", "count": 7]
    #expect(value.redacted == ["message": "Session [redacted]", "count": 7])
  }

  @Test(
    .covers("CA-20.1"),
    arguments: [
      (#"{"access_token":"00Dxx!AQ12","n":1}"#, #"{"access_token":"******AQ12","n":1}"#),
      (#"{"Refresh_Token" : "abcd"}"#, #"{"Refresh_Token" : "****"}"#),
      (#"{"sid":"a\"b12345","x":"sid"}"#, #"{"sid":"*****2345","x":"sid"}"#),
      (#"{"cookie-sid_Client":"123456"}"#, #"{"cookie-sid_Client":"**3456"}"#),
      (#"{\"id_token\":\"abcdefgh\",\"k\":\"v\"}"#, #"{\"id_token\":\"****efgh\",\"k\":\"v\"}"#),
      ("POST /t?code=aPrx12345&state=1", "POST /t?code=*****2345&state=1"),
      ("grant=x&refresh_token=5Aep861\nsid=1", "grant=x&refresh_token=***p861\nsid=*"),
      ("Authorization: Bearer 00Dxx0123", "Authorization: Bearer *****0123"),
      (#"["authorization": "OAuth abcdef"]"#, #"["authorization": "OAuth **cdef"]"#),
      (
        "encode=abcdefgh tokens=abcdefgh mycode=abcdefgh",
        "encode=abcdefgh tokens=abcdefgh mycode=abcdefgh"
      ),
      (#"{"access_token":"cut of"#, #"{"access_token":"**t of"#), ("access_token", "access_token"),
      (#"{"access_token":null}"#, #"{"access_token":null}"#), ("", ""), ("Grüße", "Grüße"),
    ])
  func `tokens are masked to their last four characters`(text: String, expected: String) {
    #expect(Redaction.redact(text) == expected)
  }

  @Test(
    .covers("CA-20.1", "BX-99.1"),
    arguments: [
      "access_token", "refresh_token", "id_token", "csrf_token", "sid", "lightning_sid",
      "visualforce_sid", "content_sid", "parent_sid", "cookie-sid_Client", "cookie-clientSrc",
      "beacon_child_consumer_secret",
    ])
  func `each member that holds a token is masked, in any case`(name: String) {
    for name in [name, name.uppercased()] {
      #expect(
        Redaction.redact(#"{"\#(name)":"abcdefgh","n":"12345678"}"#)
          == #"{"\#(name)":"****efgh","n":"12345678"}"#)
    }
  }

  @Test(
    .covers("CA-20.1", "BX-99.1"),
    arguments: [
      "access_token", "sid", "token", "refresh_token", "code", "assertion", "code_verifier",
    ])
  func `each parameter that holds a token is masked, in any case`(name: String) {
    for name in [name, name.uppercased()] {
      #expect(
        Redaction.redact("POST /x?n=12345678&\(name)=abcdefgh&m=1")
          == "POST /x?n=12345678&\(name)=****efgh&m=1")
    }
  }

  @Test(
    .covers("CA-20.1"),
    arguments: [
      (#"{"password":"geheim1","otp" : "123456"}"#, #"{"password":"*******","otp" : "******"}"#),
      (
        #"{"newPassword":"abcdefgh","recaptcha":"12345"}"#,
        #"{"newPassword":"********","recaptcha":"*****"}"#
      ),
      ("password=abcdefgh&client_secret=12345678", "password=********&client_secret=********"),
    ])
  func `of passwords and codes that people type nothing is shown`(
    text: String, expected: String
  ) {
    #expect(Redaction.redact(text) == expected)
  }

  @Test(
    .covers("CA-20.2"),
    arguments: [
      ("https://x/a?b=1&Token=2&c", ["token"], "https://x/a?b=1&Token=[redacted]&c"),
      ("https://x/a?b=1#b=2", ["b"], "https://x/a?b=[redacted]#b=2"),
      ("https://x/a", ["b"], "https://x/a"),
      ("https://x/a?b=1&&c=2=3", [], "https://x/a?b=1&&c=2=3"),
      ("https://x/a?b=1&&c=2=3", ["c"], "https://x/a?b=1&&c=[redacted]"),
    ])
  func `parameters of a URL are hidden by name`(
    url: String, names: [String], expected: String
  ) {
    #expect(Redaction.url(url, hiding: names) == expected)
  }
}
