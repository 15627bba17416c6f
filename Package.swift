// swift-tools-version: 6.2
import PackageDescription

// One list of settings serves every target.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  // `any` marks the dynamic calls, which cost about three times a generic one.
  .enableUpcomingFeature("ExistentialAny"),
  // An import is an implementation detail until it says otherwise.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // A member comes from a module that this file imports, never from a file next to it.
  .enableUpcomingFeature("MemberImportVisibility"),
  // An async function runs where its caller runs; `@concurrent` marks the heavy ones.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // A warning that stays hides the next one.
  .treatAllWarnings(as: .error),
  // Every public type says whether it may cross tasks.
  .treatWarning("ExplicitSendable", as: .error),
]

let package = Package(
  name: "Fieldforce",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "SalesforceSDKCommon", targets: ["SalesforceSDKCommon"]),
    .library(name: "SalesforceAnalytics", targets: ["SalesforceAnalytics"]),
    .library(name: "SalesforceSDKCore", targets: ["SalesforceSDKCore"]),
    .library(name: "SmartStore", targets: ["SmartStore"]),
    .library(name: "MobileSync", targets: ["MobileSync"]),
    .library(name: "SoqlSyncDown", targets: ["SoqlSyncDown"]),
    .library(name: "CollectionSyncUp", targets: ["CollectionSyncUp"]),
    .library(name: "BasicSyncUp", targets: ["BasicSyncUp"]),
    .library(name: "BatchSyncUp", targets: ["BatchSyncUp"]),
    .library(name: "SoslSyncDown", targets: ["SoslSyncDown"]),
    .library(name: "MruSyncDown", targets: ["MruSyncDown"]),
    .library(name: "RefreshSyncDown", targets: ["RefreshSyncDown"]),
    .library(name: "MetadataSyncDown", targets: ["MetadataSyncDown"]),
    .library(name: "LayoutSyncDown", targets: ["LayoutSyncDown"]),
    .library(name: "ParentChildrenSync", targets: ["ParentChildrenSync"]),
    .library(name: "BriefcaseSyncDown", targets: ["BriefcaseSyncDown"]),
    .library(name: "BulkSyncDown", targets: ["BulkSyncDown"]),
    .library(name: "BulkSyncUp", targets: ["BulkSyncUp"]),
    .library(name: "StandardSyncTargets", targets: ["StandardSyncTargets"]),
    .library(name: "FileSync", targets: ["FileSync"]),
    .library(name: "FieldforceObservation", targets: ["FieldforceObservation"]),
    .library(name: "MobileSyncTestSupport", targets: ["MobileSyncTestSupport"]),
    .library(name: "LoopbackLogin", targets: ["LoopbackLogin"]),
    .library(name: "SecretService", targets: ["SecretService"]),
    .library(name: "SystemAuthentication", targets: ["SystemAuthentication"]),
    .library(name: "PostgresAccounts", targets: ["PostgresAccounts"]),
    .library(name: "IdentityProviderURLs", targets: ["IdentityProviderURLs"]),
    .library(name: "IdentityLogin", targets: ["IdentityLogin"]),
    .library(name: "SalesforcePush", targets: ["SalesforcePush"]),
    .library(name: "PushRelay", targets: ["PushRelay"]),
    .library(name: "EinsteinModels", targets: ["EinsteinModels"]),
    .library(name: "SalesforceHybridSDK", targets: ["SalesforceHybridSDK"]),
    .library(name: "SalesforceReact", targets: ["SalesforceReact"]),
    .library(name: "HybridServer", targets: ["HybridServer"]),
    .library(name: "FieldforceInspector", targets: ["FieldforceInspector"]),
    .library(name: "SalesforceMockOrg", targets: ["SalesforceMockOrg"]),
    .executable(name: "fieldforce", targets: ["fieldforce"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
  ],
  targets: [
    // Modules: no arrow turns back.
    .target(
      name: "SalesforceSDKCommon",
      dependencies: ["ProcessSystem", .collections, .crypto, .cryptoExtras, .logging],
      path: "Modules/Common", swiftSettings: settings),
    // Calls of the system that Swift does not import.
    .target(name: "ProcessSystem", path: "Modules/ProcessSystem"),
    .testTarget(
      name: "CommonTests",
      dependencies: ["SalesforceSDKCommon", "TestSupport"],
      path: "Tests/Common", resources: [.copy("Resources")], swiftSettings: settings),

    .target(
      name: "SalesforceAnalytics",
      dependencies: ["SalesforceSDKCommon"],
      path: "Modules/Analytics", swiftSettings: settings),
    .testTarget(
      name: "AnalyticsTests",
      dependencies: ["SalesforceAnalytics", "TestSupport"],
      path: "Tests/Analytics", swiftSettings: settings),

    .target(
      name: "SalesforceSDKCore",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "FieldforceGzip", "ProcessSystem", .crypto,
        .cryptoExtras, .httpTypes, .metrics, .tracing,
      ],
      path: "Modules/Core", swiftSettings: settings),
    // Bodies in the gzip form, for Core and the mock org.
    .systemLibrary(
      name: "CZlib", path: "Modules/Zlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "FieldforceGzip", dependencies: ["CZlib"], path: "Modules/Gzip",
      swiftSettings: settings),
    .testTarget(
      name: "CoreTests",
      dependencies: [
        "SalesforceSDKCore", "SalesforceAnalytics", "FieldforceGzip", "TestSupport", .crypto,
        .cryptoExtras, .inMemoryTracing, .metrics, .metricsTestKit, .tracing,
      ],
      path: "Tests/Core", swiftSettings: settings),

    .target(
      name: "SmartStore",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore", .crypto, .cryptoExtras,
        "StoreSystem", .grdb, .sqlite,
      ],
      path: "Modules/SmartStore", swiftSettings: settings),
    // Calls of SQLite that Swift cannot make.
    .target(
      name: "StoreSystem", path: "Modules/StoreSystem",
      linkerSettings: [.linkedLibrary("sqlite3")]),
    .testTarget(
      name: "SmartStoreTests",
      dependencies: [
        "SmartStore", "StoreCrashChild", "StoreCrashScript", "StoreSystem", "TestSupport", .grdb,
        .sqlite,
      ],
      path: "Tests/SmartStore", swiftSettings: settings),
    .target(
      name: "StoreCrashScript",
      dependencies: ["SalesforceSDKCommon", "SmartStore", .crypto],
      path: "Tests/StoreCrashScript", swiftSettings: settings),
    // Written to and killed by the tests above.
    .executableTarget(
      name: "StoreCrashChild",
      dependencies: ["SmartStore", "StoreCrashScript"],
      path: "Tests/StoreCrashChild", swiftSettings: settings),
    // A program whose calls on files fail when the tests above say so. They do not depend on it: it
    // would be linked into them, and its calls would take the place of theirs.
    .executableTarget(
      name: "StoreFaultChild",
      dependencies: [
        "SalesforceSDKCommon", "SmartStore", "StoreCrashScript",
        .target(name: "FaultyFiles", condition: .when(platforms: [.linux])),
      ],
      path: "Tests/StoreFaultChild", swiftSettings: settings),
    .target(name: "FaultyFiles", path: "Tests/FaultyFiles"),

    .target(
      name: "MobileSync",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore", "SmartStore", .crypto,
        .cryptoExtras, .httpTypes,
      ],
      path: "Modules/MobileSync", swiftSettings: settings),
    .testTarget(
      name: "MobileSyncTests",
      dependencies: [
        "MobileSync", "SoqlSyncDown", "SoslSyncDown", "MruSyncDown", "RefreshSyncDown",
        "BriefcaseSyncDown", "ParentChildrenSync", "BasicSyncUp", "BatchSyncUp", "CollectionSyncUp",
        "LayoutSyncDown", "MetadataSyncDown", "StandardSyncTargets", "MobileSyncTestSupport",
        "SmartStoreTests", "TestSupport",
      ],
      path: "Tests/MobileSync", swiftSettings: settings),
    .target(
      name: "MobileSyncTestSupport",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore", "SmartStore",
        "MobileSync", "StandardSyncTargets", "TestSupport", .httpTypes,
      ],
      path: "Testing/MobileSyncTestSupport", swiftSettings: settings),

    // Queries and syncs for views, on public API alone.
    .target(
      name: "FieldforceObservation",
      dependencies: ["SalesforceSDKCommon", "SmartStore", "MobileSync"],
      path: "Modules/Observation", swiftSettings: settings),
    .testTarget(
      name: "ObservationTests",
      dependencies: [
        "FieldforceObservation", "SalesforceSDKCommon", "SmartStore", "MobileSync",
        "MobileSyncTestSupport", "TestSupport",
      ],
      path: "Tests/Observation", swiftSettings: settings),

    // The dispatcher between pages and the modules above, without a server or a browser.
    .target(
      name: "SalesforceHybridSDK",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceSDKCore", "SmartStore", "MobileSync", .httpTypes,
      ],
      path: "Modules/Hybrid", swiftSettings: settings),
    // The same dispatcher under the names and in the forms of React Native.
    .target(
      name: "SalesforceReact",
      dependencies: ["SalesforceHybridSDK", "SalesforceSDKCommon", "MobileSync"],
      path: "Modules/React", swiftSettings: settings),
    .testTarget(
      name: "HybridTests",
      dependencies: [
        "SalesforceHybridSDK", "SalesforceReact", "SalesforceMockOrg", "StandardSyncTargets",
        "TestSupport",
      ],
      path: "Tests/Hybrid", swiftSettings: settings),

    // Plugins: public API alone.
    .target(
      name: "SoqlSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore", .httpTypes],
      path: "Plugins/SoqlSyncDown", swiftSettings: settings),
    .testTarget(
      name: "SoqlSyncDownTests",
      dependencies: ["SoqlSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/SoqlSyncDown", swiftSettings: settings),

    .target(
      name: "CollectionSyncUp",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore", .httpTypes],
      path: "Plugins/CollectionSyncUp", swiftSettings: settings),
    .testTarget(
      name: "CollectionSyncUpTests",
      dependencies: ["CollectionSyncUp", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/CollectionSyncUp", swiftSettings: settings),

    .target(
      name: "BasicSyncUp",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/BasicSyncUp", swiftSettings: settings),
    .testTarget(
      name: "BasicSyncUpTests",
      dependencies: ["BasicSyncUp", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/BasicSyncUp", swiftSettings: settings),

    .target(
      name: "BatchSyncUp",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/BatchSyncUp", swiftSettings: settings),
    .testTarget(
      name: "BatchSyncUpTests",
      dependencies: ["BatchSyncUp", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/BatchSyncUp", swiftSettings: settings),

    .target(
      name: "SoslSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/SoslSyncDown", swiftSettings: settings),
    .testTarget(
      name: "SoslSyncDownTests",
      dependencies: ["SoslSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/SoslSyncDown", swiftSettings: settings),

    .target(
      name: "MruSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/MruSyncDown", swiftSettings: settings),
    .testTarget(
      name: "MruSyncDownTests",
      dependencies: ["MruSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/MruSyncDown", swiftSettings: settings),

    .target(
      name: "RefreshSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore", "SmartStore"],
      path: "Plugins/RefreshSyncDown", swiftSettings: settings),
    .testTarget(
      name: "RefreshSyncDownTests",
      dependencies: ["RefreshSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/RefreshSyncDown", swiftSettings: settings),

    .target(
      name: "MetadataSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/MetadataSyncDown", swiftSettings: settings),
    .testTarget(
      name: "MetadataSyncDownTests",
      dependencies: ["MetadataSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/MetadataSyncDown", swiftSettings: settings),

    .target(
      name: "LayoutSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/LayoutSyncDown", swiftSettings: settings),
    .testTarget(
      name: "LayoutSyncDownTests",
      dependencies: ["LayoutSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/LayoutSyncDown", swiftSettings: settings),

    .target(
      name: "ParentChildrenSync",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/ParentChildrenSync", swiftSettings: settings),
    .testTarget(
      name: "ParentChildrenSyncTests",
      dependencies: [
        "ParentChildrenSync", "MobileSyncTestSupport", "SmartStoreTests", "TestSupport",
      ],
      path: "Tests/ParentChildrenSync", swiftSettings: settings),

    .target(
      name: "BriefcaseSyncDown",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Plugins/BriefcaseSyncDown", swiftSettings: settings),
    .testTarget(
      name: "BriefcaseSyncDownTests",
      dependencies: ["BriefcaseSyncDown", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/BriefcaseSyncDown", swiftSettings: settings),

    // The Bulk API 2.0: its jobs and files, and the targets over them.
    .target(
      name: "BulkJobs",
      dependencies: ["MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore", .httpTypes],
      path: "Plugins/BulkJobs", swiftSettings: settings),
    .target(
      name: "BulkSyncDown",
      dependencies: [
        "BulkJobs", "MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore", "SoqlSyncDown",
        .httpTypes,
      ],
      path: "Plugins/BulkSyncDown", swiftSettings: settings),
    .testTarget(
      name: "BulkSyncDownTests",
      dependencies: [
        "BulkJobs", "BulkSyncDown", "MobileSyncTestSupport", "TestSupport", .httpTypes,
      ],
      path: "Tests/BulkSyncDown", swiftSettings: settings),
    .target(
      name: "BulkSyncUp",
      dependencies: [
        "BulkJobs", "CollectionSyncUp", "MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore",
        "SmartStore", .httpTypes,
      ],
      path: "Plugins/BulkSyncUp", swiftSettings: settings),
    .testTarget(
      name: "BulkSyncUpTests",
      dependencies: ["BulkJobs", "BulkSyncUp", "MobileSyncTestSupport", "TestSupport"],
      path: "Tests/BulkSyncUp", swiftSettings: settings),

    .target(
      name: "StandardSyncTargets",
      dependencies: [
        "BulkSyncDown", "BulkSyncUp", "MobileSync", "SoqlSyncDown", "CollectionSyncUp",
        "BasicSyncUp", "BatchSyncUp",
        "SoslSyncDown", "MruSyncDown", "RefreshSyncDown", "MetadataSyncDown", "LayoutSyncDown",
        "BriefcaseSyncDown", "ParentChildrenSync",
      ],
      path: "Plugins/StandardSyncTargets", swiftSettings: settings),

    // Files of synced records, with their content.
    .target(
      name: "FileSync",
      dependencies: [
        "MobileSync", "SalesforceSDKCommon", "SalesforceSDKCore", "SmartStore", .crypto, .httpTypes,
      ],
      path: "Plugins/FileSync", swiftSettings: settings),
    .testTarget(
      name: "FileSyncTests",
      dependencies: [
        "FileSync", "MobileSync", "CollectionSyncUp", "SalesforceMockOrg", "SalesforceSDKCommon",
        "SalesforceSDKCore", "SmartStore", "TestSupport", .crypto, .httpTypes,
      ],
      path: "Tests/FileSync", swiftSettings: settings),

    // A server that hears one browser redirect; apart, so that Core builds no server.
    .target(
      name: "LocalServer",
      dependencies: [
        .httpTypes, .hummingbird, .logging, .nio, .nioHTTP, .nioHTTPTypes, .services,
      ],
      path: "Plugins/Servers/LocalServer", swiftSettings: settings),
    .target(
      name: "LoopbackLogin",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceSDKCore", "LocalServer", "PeerSocket", .httpTypes,
        .hummingbird,
      ],
      path: "Plugins/Login/LoopbackLogin", swiftSettings: settings),
    .testTarget(
      name: "LoopbackLoginTests",
      dependencies: ["LoopbackLogin", "PeerSocket", "TestSupport"],
      path: "Tests/LoopbackLogin", swiftSettings: settings),

    // What a Linux desktop offers, over D-Bus; apart, so that no library needs a session.
    .target(
      name: "DBusClient", dependencies: ["SalesforceSDKCommon", "ProcessSystem"],
      path: "Plugins/Desktop/DBusClient", swiftSettings: settings),
    .target(
      name: "SecretService",
      dependencies: ["SalesforceSDKCommon", "DBusClient", .crypto, .cryptoExtras],
      path: "Plugins/Desktop/SecretService", swiftSettings: settings),
    // PAM is a library of Linux; elsewhere the sources that use it are empty.
    .systemLibrary(name: "CPAM", path: "Plugins/Desktop/CPAM", providers: [.apt(["libpam0g-dev"])]),
    .target(
      name: "SystemAuthentication",
      dependencies: [
        .target(name: "CPAM", condition: .when(platforms: [.linux])), "DBusClient",
        "SalesforceSDKCore",
      ],
      path: "Plugins/Desktop/SystemAuthentication", swiftSettings: settings),
    .testTarget(
      name: "DesktopTests",
      dependencies: [
        "SecretService", "SystemAuthentication", "DBusClient", "SalesforceSDKCommon",
        "SalesforceSDKCore", "TestSupport", .crypto, .subprocess, .system,
      ],
      path: "Tests/Desktop", swiftSettings: settings),

    // The URLs between apps that log in through one another, for programs with or without the rest.
    .target(
      name: "IdentityProviderURLs", dependencies: ["SalesforceSDKCommon"],
      path: "Plugins/Login/IdentityProviderURLs", swiftSettings: settings),
    .testTarget(
      name: "IdentityProviderURLsTests",
      dependencies: ["IdentityProviderURLs", "SalesforceSDKCommon", "TestSupport"],
      path: "Tests/IdentityProviderURLs", swiftSettings: settings),
    // Messages between processes of one user.
    .target(
      name: "PeerSocket",
      dependencies: ["SalesforceSDKCommon", "ProcessSystem", .nio, .nioPosix],
      path: "Plugins/Servers/PeerSocket", swiftSettings: settings),
    // An app that vouches for others, and an app that logs in through it.
    .target(
      name: "IdentityLogin",
      dependencies: [
        "IdentityProviderURLs", "PeerSocket", "SalesforceSDKCommon", "SalesforceSDKCore",
        .httpTypes,
      ],
      path: "Plugins/Login/IdentityLogin", swiftSettings: settings),
    .testTarget(
      name: "IdentityLoginTests",
      dependencies: [
        "IdentityLogin", "IdentityLoginChild", "IdentityProviderURLs", "LoopbackLogin",
        "PeerSocket", "SalesforceMockOrg", "SalesforceSDKCommon", "SalesforceSDKCore",
        "TestSupport", .httpTypes, .subprocess, .system,
      ],
      path: "Tests/IdentityLogin", swiftSettings: settings),
    // Runs next to the tests above.
    .executableTarget(
      name: "IdentityLoginChild",
      dependencies: [
        "IdentityLogin", "IdentityProviderURLs", "PeerSocket", "SalesforceSDKCommon",
        "SalesforceSDKCore",
      ],
      path: "Tests/IdentityLoginChild", swiftSettings: settings),

    // Accounts of servers that run on many hosts. Needs libpq; nothing else depends on it. Empty on Apple systems.
    .systemLibrary(
      name: "CLibPQ", path: "Plugins/Servers/CLibPQ", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"])]),
    .target(
      name: "PostgresAccounts",
      dependencies: [
        .target(name: "CLibPQ", condition: .when(platforms: [.linux])), "SalesforceSDKCommon",
        "SalesforceSDKCore", .crypto,
      ],
      path: "Plugins/Servers/PostgresAccounts", swiftSettings: settings),
    .testTarget(
      name: "PostgresAccountsTests",
      dependencies: [
        "PostgresAccounts", "PostgresAccountsChild", "SalesforceMockOrg", "SalesforceSDKCommon",
        "SalesforceSDKCore", "TestSupport", .subprocess, .system,
      ],
      path: "Tests/PostgresAccounts", swiftSettings: settings),
    // One of the processes that share a session in the tests above.
    .executableTarget(
      name: "PostgresAccountsChild",
      dependencies: ["PostgresAccounts", "SalesforceSDKCommon", "SalesforceSDKCore"],
      path: "Tests/PostgresAccountsChild", swiftSettings: settings),

    // Push notifications without a phone.
    .target(
      name: "SalesforcePush",
      dependencies: ["SalesforceSDKCommon", "SalesforceSDKCore", .crypto, .cryptoExtras],
      path: "Plugins/Push", swiftSettings: settings),
    .target(
      name: "PushRelay",
      dependencies: [
        "SalesforcePush", "SalesforceSDKCommon", "LocalServer", .httpTypes, .hummingbird,
      ],
      path: "Plugins/Servers/PushRelay", swiftSettings: settings),
    .testTarget(
      name: "PushTests",
      dependencies: [
        "SalesforcePush", "PushRelay", "LocalServer", "SalesforceMockOrg", "SalesforceSDKCommon",
        "SalesforceSDKCore", "TestSupport", .subprocess,
      ],
      path: "Tests/Push", resources: [.copy("Resources")], swiftSettings: settings),

    .target(name: "HeapSystem", path: "Modules/HeapSystem"),
    // Pages in a browser, and Node processes, on the dispatcher of the hybrid module.
    .target(
      name: "HybridServer",
      dependencies: [
        "SalesforceHybridSDK", "SalesforceSDKCommon", "SalesforceSDKCore", "LocalServer",
        "PeerSocket", "HeapSystem", .crypto, .nio, .nioHTTP, .nioPosix, .nioWebSocket,
      ],
      path: "Plugins/Servers/HybridServer", exclude: ["JavaScript/mock", "JavaScript/tests"],
      resources: [.copy("JavaScript/cordova"), .copy("JavaScript/plugins")],
      swiftSettings: settings),
    .testTarget(
      name: "HybridServerTests",
      dependencies: [
        "HybridServer", "LocalServer", "PeerSocket", "SalesforceHybridSDK", "TestSupport", .crypto,
        .nio, .nioPosix,
      ],
      path: "Tests/HybridServer", swiftSettings: settings),

    // A page for developers over what an app has open.
    .target(
      name: "FieldforceInspector",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore", "SmartStore",
        "MobileSync", "FileSync", "LocalServer", .httpTypes, .hummingbird, .nio,
      ],
      path: "Plugins/Servers/Inspector", exclude: ["tests"], resources: [.copy("www")],
      swiftSettings: settings),
    .testTarget(
      name: "InspectorTests",
      dependencies: [
        "FieldforceInspector", "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore",
        "SmartStore", "MobileSync", "FileSync", "StandardSyncTargets", "SalesforceMockOrg",
        "MobileSyncTestSupport", "TestSupport", .httpTypes,
      ],
      path: "Tests/Inspector", swiftSettings: settings),

    // The platform's language models, apart from what every app needs.
    .target(
      name: "EinsteinModels",
      dependencies: ["SalesforceSDKCommon", "SalesforceSDKCore", .httpTypes],
      path: "Plugins/EinsteinModels", swiftSettings: settings),
    .testTarget(
      name: "EinsteinModelsTests",
      dependencies: [
        "EinsteinModels", "SalesforceSDKCommon", "SalesforceSDKCore", "TestSupport", .httpTypes,
      ],
      path: "Tests/EinsteinModels", swiftSettings: settings),

    // Tools: no library above depends on these.
    .target(
      name: "SalesforceMockOrg",
      dependencies: [
        "SalesforceSDKCommon", "LocalServer", "FieldforceGzip", .crypto, .cryptoExtras, .grdb,
        .httpTypes,
        .hummingbird, .logging, .nio, .sqlite,
      ],
      path: "Testing/MockOrg", resources: [.copy("Resources")], swiftSettings: settings),
    .testTarget(
      name: "MockOrgTests",
      dependencies: [
        "SalesforceMockOrg", "FieldforceGzip", "LocalServer", "TestSupport", .crypto, .cryptoExtras,
        .grdb, .nio, .nioEmbedded,
      ],
      path: "Tests/MockOrg", swiftSettings: settings),

    .executableTarget(
      name: "fieldforce",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore", "SmartStore",
        "MobileSync", "FileSync", "StandardSyncTargets", "SoqlSyncDown", "CollectionSyncUp",
        "LoopbackLogin", "SecretService", "SystemAuthentication", "SalesforcePush", "PushRelay",
        "SalesforceMockOrg",
        "SalesforceHybridSDK", "SalesforceReact", "HybridServer", "FieldforceInspector",
        .argumentParser, .httpTypes, .subprocess,
      ],
      path: "Tools/CLI", resources: [.copy("Templates")], swiftSettings: settings),
    .testTarget(
      name: "CLITests",
      dependencies: [
        "fieldforce", "SalesforceSDKCommon", "SalesforceMockOrg", "TestSupport", .cryptoExtras,
        .subprocess, .system,
      ],
      path: "Tests/CLI", swiftSettings: settings),

    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceAnalytics", "SalesforceSDKCore", "SmartStore",
        "MobileSync", "StandardSyncTargets", "SoqlSyncDown", "SoslSyncDown", "MruSyncDown",
        "RefreshSyncDown", "MetadataSyncDown", "LayoutSyncDown", "BriefcaseSyncDown",
        "ParentChildrenSync", "BasicSyncUp", "BatchSyncUp", "BulkSyncDown", "BulkSyncUp",
        "CollectionSyncUp", "LoopbackLogin", "EinsteinModels", "FieldforceInspector",
        "SalesforceHybridSDK", "HybridServer", "SalesforceMockOrg", "MobileSyncTestSupport",
        "TestSupport", .cryptoExtras, .inMemoryTracing, .metrics, .metricsTestKit, .tracing,
      ],
      path: "Tests/Integration", swiftSettings: settings),
    // Random histories, kills, faults and malformed input, for as long as one likes. They stand apart so
    // that the other tests take two minutes, and use what those have to make stores, devices and orgs.
    .testTarget(
      name: "Proofs",
      dependencies: [
        "SmartStoreTests", "MobileSyncTests", "MockOrgTests", "CLITests", "SalesforceSDKCommon",
        "SmartStore", "StoreCrashChild", "StoreCrashScript", "StoreSystem", "MobileSync",
        "StandardSyncTargets", "SoqlSyncDown", "SoslSyncDown", "MruSyncDown", "RefreshSyncDown",
        "BriefcaseSyncDown", "ParentChildrenSync", "BasicSyncUp", "BatchSyncUp", "CollectionSyncUp",
        "MobileSyncTestSupport", "SalesforceMockOrg", "TestSupport", .grdb, .httpTypes, .sqlite,
        .subprocess, .system,
      ],
      path: "Tests/Proofs", exclude: ["Files"], swiftSettings: settings),
    // Those of files build with few targets, and so in a minute.
    .testTarget(
      name: "FileProofs",
      dependencies: [
        "FileSyncTests", "FileSync", "MobileSync", "SalesforceMockOrg", "SalesforceSDKCommon",
        "SalesforceSDKCore", "SmartStore", "TestSupport", .crypto, .httpTypes,
      ],
      path: "Tests/Proofs/Files", swiftSettings: settings),
    // Replays what Tools/fuzz.sh keeps. The fuzzer itself is a package of its own in the same folder.
    .testTarget(
      name: "FuzzCorpusTests",
      dependencies: [
        "SalesforceSDKCommon", "SalesforceSDKCore", "SmartStore", "MobileSync", "BulkJobs",
        "DBusClient", "IdentityProviderURLs", "SalesforceHybridSDK", "SalesforceMockOrg",
        "FieldforceGzip", "TestSupport", .crypto, .nio, .nioEmbedded, .nioWebSocket,
      ],
      path: "Tools/Fuzzing", exclude: ["Package.swift", "Fuzzer", "Corpus"],
      sources: ["Parsers", "Replay"], swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["SalesforceSDKCommon", .logging],
      path: "Tests/Support", swiftSettings: settings),
  ]
)

extension Target.Dependency {
  static var argumentParser: Self {
    .product(name: "ArgumentParser", package: "swift-argument-parser")
  }
  static var collections: Self {
    .product(name: "OrderedCollections", package: "swift-collections")
  }
  static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
  static var cryptoExtras: Self { .product(name: "CryptoExtras", package: "swift-crypto") }
  static var grdb: Self { .product(name: "GRDB", package: "GRDB.swift") }
  static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
  static var hummingbird: Self { .product(name: "Hummingbird", package: "hummingbird") }
  static var inMemoryTracing: Self {
    .product(name: "InMemoryTracing", package: "swift-distributed-tracing")
  }
  static var logging: Self { .product(name: "Logging", package: "swift-log") }
  static var metrics: Self { .product(name: "Metrics", package: "swift-metrics") }
  static var metricsTestKit: Self {
    .product(name: "MetricsTestKit", package: "swift-metrics")
  }
  static var nio: Self { .product(name: "NIOCore", package: "swift-nio") }
  static var nioHTTPTypes: Self {
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
  }
  static var nioEmbedded: Self { .product(name: "NIOEmbedded", package: "swift-nio") }
  static var nioHTTP: Self { .product(name: "NIOHTTP1", package: "swift-nio") }
  static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio") }
  static var nioWebSocket: Self { .product(name: "NIOWebSocket", package: "swift-nio") }
  static var services: Self {
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
  }
  static var sqlite: Self { .product(name: "GRDBSQLite", package: "GRDB.swift") }
  static var subprocess: Self { .product(name: "Subprocess", package: "swift-subprocess") }
  static var tracing: Self { .product(name: "Tracing", package: "swift-distributed-tracing") }
  static var system: Self { .product(name: "SystemPackage", package: "swift-system") }
}
