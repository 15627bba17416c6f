// swift-tools-version: 6.2
import PackageDescription

// The fuzzer of Tools/fuzz.sh: a package of its own, so that users of the libraries never build it. The test target
// `FuzzCorpusTests` of the root package compiles `Parsers` too and replays `Corpus`.
let package = Package(
  name: "Fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Fieldforce", path: "../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    .executableTarget(
      name: "fuzz",
      dependencies: [
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "MobileSync", package: "Fieldforce"),
        // The targets over BulkJobs and DBusClient, which are no products.
        .product(name: "BulkSyncDown", package: "Fieldforce"),
        .product(name: "SecretService", package: "Fieldforce"),
        .product(name: "IdentityProviderURLs", package: "Fieldforce"),
        .product(name: "SalesforceHybridSDK", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      path: ".", exclude: ["Corpus", "Replay"], sources: ["Fuzzer", "Parsers"],
      swiftSettings: [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
