import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// CA-28: settings in a file.
@Suite struct PreferencesTests {
  @Test(.covers("CA-28"))
  func `values of every kind survive a restart, and nil removes`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("deep/settings.json")
    let settings = try Preferences(file)
    let values: JSONObject = [
      "text": "a", "flag": true, "number": 9_007_199_254_740_993, "double": 1.5, "list": [1, nil],
      "object": ["a": ["b": "c"]],
    ]
    for (key, value) in values { try settings.set(value, forKey: key) }
    try settings.set("x", forKey: "gone")
    try settings.set(nil, forKey: "gone")
    let again = try Preferences(file)
    #expect(again.all == values)
    #expect(again["flag"] == true && again["gone"] == nil)
    try again.removeAll()
    #expect(again.all.isEmpty)
    // The other one sees it when it asks.
    #expect(settings["text"] == "a")
    try settings.synchronize()
    #expect(settings.all.isEmpty)
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test(.covers("CA-28"))
  func `changes of two holders at once are all kept`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("settings.json")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for holder in 0..<2 {
        let settings = try Preferences(file)
        group.addTask {
          for index in 0..<20 {
            try settings.set(.integer(Int64(index)), forKey: "\(holder)-\(index)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Preferences(file).all.count == 40)
  }

  @Test(.covers("CA-28"))
  func `a damaged file is kept aside and the settings begin empty`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("settings.json")
    for text in ["{", "[]", "\u{FEFF}"] {
      try Data(text.utf8).write(to: file)
      let settings = try Preferences(file)
      #expect(settings.all.isEmpty)
    }
    let aside = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      .filter { $0.contains(".unreadable-") }
    #expect(aside.count == 3)
  }

  @Test(.covers("CA-28"))
  func `subscribers receive which settings changed`() async throws {
    let folder = try TemporaryFolder()
    let settings = try Preferences(folder.file("settings.json"))
    let changes = settings.changes()
    try settings.set(1, forKey: "a")
    try settings.set(1, forKey: "a")
    try settings.update {
      $0["a"] = nil
      $0["b"] = 2
    }
    var told: [Set<String>] = []
    for await keys in changes {
      told.append(keys)
      if told.count == 2 { break }
    }
    #expect(told == [["a"], ["a", "b"]])
  }

  @Test(.covers("CA-28"))
  func `what is no JSON is refused and changes nothing`() throws {
    let folder = try TemporaryFolder()
    let settings = try Preferences(folder.file("settings.json"))
    try settings.set(1, forKey: "a")
    let error = #expect(throws: PreferencesError.self) {
      try settings.set(.double(.infinity), forKey: "b")
    }
    #expect(error?.code == .invalidValue)
    #expect(settings.all == ["a": 1])
  }
}

/// CA-29: where files lie.
@Suite struct AppFoldersTests {
  @Test(.covers("CA-29", "CO-89", "HT-93.1", "HT-93.2"))
  func `folders follow the system's rules`() {
    let folders = AppFolders(
      appId: "org.example.app",
      environment: ["HOME": "/home/jane", "XDG_CACHE_HOME": "/cache", "XDG_DATA_HOME": "relative"])
    let named = AppFolders(
      appId: "app", environment: ["HOME": "/home/jane", "XDG_CONFIG_HOME": "/etc/jane"])
    #if os(Linux)
      #expect(
        folders.folder(.data, "a", "b").path() == "/home/jane/.local/share/org.example.app/a/b/")
      #expect(folders.folder(.caches).path() == "/cache/org.example.app/")
      #expect(folders.folder(.state).path() == "/home/jane/.local/state/org.example.app/")
      #expect(folders.folder(.configuration).path() == "/home/jane/.config/org.example.app/")
      #expect(named.folder(.configuration).path() == "/etc/jane/app/")
    #else
      #expect(folders.folder(.caches).path() == "/home/jane/Library/Caches/org.example.app/")
    #endif
  }

  @Test(.covers("CA-29", "CA-27.1", "CO-89", "HT-93.1"))
  func `folders are made for their owner, and shared by name`()
    throws
  {
    let temporary = try TemporaryFolder()
    let folders = AppFolders(appId: "group", root: temporary.url)
    let made = try folders.make(.data, "deep", "er")
    let mode = try FileManager.default.attributesOfItem(atPath: made.path)[.posixPermissions]
    #expect(mode as? Int == 0o700)
    #expect(AppFolders(appId: "group", root: temporary.url).folder(.data, "deep", "er") == made)
    try folders.make(.caches)
    let tag = try Data(contentsOf: folders.folder(.caches).appending(path: "CACHEDIR.TAG"))
    #expect(tag.starts(with: Data("Signature: 8a477f597d28d172789f06886806bc55".utf8)))
    try Data().write(to: made.appending(path: "file"))
    #expect(throws: PreferencesError.self) { try folders.make(.data, "deep", "er", "file") }
  }
}
