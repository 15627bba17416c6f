import Foundation
import HybridServer
import SalesforceHybridSDK
import TestSupport
import Testing

/// Which files does a page get, and which are never served?
struct PageFilesTests {
  @Test(.covers("HT-84"))
  func `files of www have the types that browsers need, and the policy that pages need`()
    async throws
  {
    let files = [
      "index.html": "<p>start</p>", "a b/ü.css": "p{}", "js/app.mjs": "1", "js/app.js": "2",
      "data.json": "{}", "libs/force+files.js": "3",
    ]
    try await ServedApp.with(files) { app async throws in
      for (path, type, body) in [
        ("", "text/html", "<p>start</p>"), ("index.html?a=b#c", "text/html", "<p>start</p>"),
        ("a%20b/%C3%BC.css", "text/css", "p{}"), ("js/app.mjs", "text/javascript", "1"),
        ("js/app.js", "text/javascript", "2"), ("data.json", "application/json", "{}"),
        ("libs/force+files.js", "text/javascript", "3"),
        ("libs/force%2Bfiles.js", "text/javascript", "3"),
      ] {
        let response = try await app.get(path)
        #expect(response.status == 200, "\(path)")
        #expect(response.headers["content-type"]?.hasPrefix(type) == true, "\(path)")
        #expect(response.body == body, "\(path)")
        let policy = response.headers["content-security-policy"] ?? ""
        #expect(policy.contains("default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'"))
        #expect(response.headers["access-control-allow-origin"] == nil)
      }
      let head = try await app.get("index.html", method: "HEAD")
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == "12")
      #expect(try await app.get("index.html", method: "POST").status == 405)
    }
  }

  @Test(.covers("HT-3"))
  func
    `what leads out of www by dots, escapes or links, folders and missing files are not found`()
    async throws
  {
    try await ServedApp.with(["index.html": "x", "sub/page.html": "y"]) { app async throws in
      try Data("secret".utf8).write(to: app.folder.file("secret.txt"))
      let www = app.folder.file("www")
      let manager = FileManager.default
      try manager.createSymbolicLink(
        at: www.appending(path: "link.txt"), withDestinationURL: app.folder.file("secret.txt"))
      try manager.createSymbolicLink(
        at: www.appending(path: "out"), withDestinationURL: app.folder.url)
      try manager.createSymbolicLink(
        at: www.appending(path: "in.html"), withDestinationURL: www.appending(path: "index.html"))
      for path in [
        "../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "sub/../../secret.txt",
        "%252e%252e/secret.txt", "link.txt", "out/secret.txt", "sub", "sub/", "sub/.",
        "./index.html",
        "/etc/passwd", "%2Fetc%2Fpasswd", "missing.html", "index.html%00.png", "..%5csecret.txt",
        "%zz", "plugins/../../secret.txt", "plugins/%2e%2e/cordova/cordova.js",
        "cordova/cordova.js", "plugins", "plugins/",
      ] {
        let response = try await app.get(path)
        #expect((400..<500).contains(response.status), "\(path)")
        #expect(response.body.isEmpty, "\(path)")
      }
      #expect(try await app.get("in.html").body == "x")
    }
  }

  @Test(.covers("HT-3"))
  func `the bridge serves its own cordova.js, and its plug-ins unless www brings some`()
    async throws
  {
    let plugin = "plugins/com.salesforce/www/com.salesforce.plugin.oauth.js"
    try await ServedApp.with(["cordova.js": "theirs", "index.html": "x"]) { app async throws in
      #expect(try await app.get("cordova.js").body.contains("cordova/plugin_list"))
      #expect(try await app.get("cordova_plugins.js").body.contains("com.salesforce"))
      #expect(try await app.get(plugin).body.contains("com.salesforce.plugin.oauth"))
      #expect(try await app.get("plugins/fieldforce/index.js").status == 200)
    }
    try await ServedApp.with([
      "cordova_plugins.js": "own list", "plugins/own.js": "own plug-in", "cordova.js": "theirs",
    ]) { app async throws in
      #expect(try await app.get("cordova.js").body.contains("cordova/plugin_list"))
      #expect(try await app.get("cordova_plugins.js").body == "own list")
      #expect(try await app.get("plugins/own.js").body == "own plug-in")
      #expect(try await app.get(plugin).status == 404)
    }
    try await ServedApp.with([:]) { app async throws in
      #expect(app.server.startURL == nil)
      #expect(try await app.get("cordova.js").status == 200)
      #expect(try await app.get("").status == 404)
    }
  }

  @Test(.covers("HT-95.4"))
  func `without the token, with another host or another origin nothing is served`()
    async throws
  {
    try await ServedApp.with { app async throws in
      let token = app.root.dropFirst().dropLast()
      #expect(token.count >= 32)
      for path in [
        "/", "/index.html", "/\(token)", "/\(token.dropLast())/", "/\(token)0/index.html",
        "/\(String(repeating: "0", count: token.count))/index.html", "//\(token)/index.html",
        "http://\(app.host)\(app.root)index.html",
      ] {
        #expect(
          [400, 401, 403, 404].contains(try await app.request(path, host: app.host).status),
          "\(path)")
      }
      for host in ["localhost:\(app.server.port)", "evil.example", "127.0.0.1", ""] {
        #expect(
          (400..<500).contains(
            try await app.request(app.root + "index.html", host: host).status), "\(host)")
        let socket = try await app.request(
          app.root + "_bridge", host: host, headers: RawConnection.upgrade)
        #expect((400..<500).contains(socket.status), "\(host)")
      }
      for (origin, status) in [
        ("http://\(app.host)", 101), ("http://localhost:\(app.server.port)", 403),
        ("https://evil.example", 403), ("null", 403),
      ] {
        let headers = RawConnection.upgrade + ["Origin: \(origin)"]
        let socket = try await app.request(
          app.root + "_bridge", host: app.host, headers: headers)
        #expect(socket.status == status, "\(origin)")
      }
      #expect(
        try await app.request("/_bridge", host: app.host, headers: RawConnection.upgrade).status
          == 403)
      #expect(try await app.get("_bridge").status == 403)
    }
  }

  @Test
  func `a folder that does not exist and a taken port are reported`() async throws {
    let folder = try TemporaryFolder()
    let bridge = try HybridBridge(plugins: [])
    await #expect(throws: HybridServerError.self) {
      try await HybridServer.start(bridge: bridge, www: folder.file("nothing"))
    }
    try await ServedApp.with { app async throws in
      await #expect(throws: HybridServerError.self) {
        try await HybridServer.start(bridge: bridge, port: app.server.port)
      }
    }
  }

  @Test(.covers("HT-9"))
  func `name and version of an app come from its own files`() throws {
    let folder = try TemporaryFolder()
    let www = folder.file("www")
    try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
    #expect(HybridApp(www: www).name == "")
    #expect(HybridApp(www: www).startPage == "index.html")
    try Data(#"{"name":"notes","version":"1.2.3"}"#.utf8).write(
      to: folder.file("package.json"))
    #expect(HybridApp(www: www).name == "notes")
    try Data(#"<widget id="x" version="2.0"><name>Field Notes</name></widget>"#.utf8).write(
      to: www.appending(path: "config.xml"))
    try Data(#"{"startPage":"/pages/one.html"}"#.utf8).write(
      to: www.appending(path: "bootconfig.json"))
    let app = HybridApp(www: www)
    #expect(app.name == "Field Notes")
    #expect(app.version == "2.0")
    #expect(app.startPage == "pages/one.html")
  }

  /// A file of 3 GiB that takes no room on disk.
  private func sparse(_ file: URL) throws {
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 3 << 30)
    try handle.close()
  }

  @Test(.covers("HT-9"), .timeLimit(.minutes(1)))
  func `files of an app that are pipes, or have gigabytes, are left out`() throws {
    for isPipe in [true, false] {
      let folder = try TemporaryFolder()
      let www = folder.file("www")
      try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
      for file in [
        www.appending(path: "config.xml"), www.appending(path: "bootconfig.json"),
        folder.file("package.json"),
      ] {
        if isPipe { #expect(mkfifo(file.path, 0o600) == 0) } else { try sparse(file) }
      }
      #expect(HybridApp(www: www).name == "")
      #expect(HybridApp(www: www).startPage == "index.html")
      #expect(!AllowedOrigins(www: www).admits(origin: "https://evil.example"))
    }
  }

  @Test(.covers("HT-84"), .timeLimit(.minutes(1)))
  func `a file of gigabytes is not served, and the server goes on`() async throws {
    try await ServedApp.with(["index.html": "x"]) { app async throws in
      try sparse(app.folder.file("www").appending(path: "large.bin"))
      #expect(try await app.get("large.bin").status == 404)
      #expect(try await app.get("index.html").body == "x")
    }
  }
}
