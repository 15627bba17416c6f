// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library resolve nothing that only benchmarks need.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Fieldforce", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.2"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
  ],
  targets: [
    .executableTarget(
      name: "bench",
      dependencies: [
        "CStoreLoop",
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "SoqlSyncDown", package: "Fieldforce"),
        .product(name: "CollectionSyncUp", package: "Fieldforce"),
        .product(name: "StandardSyncTargets", package: "Fieldforce"),
        .product(name: "SalesforceHybridSDK", package: "Fieldforce"),
        .product(name: "HybridServer", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .target(name: "CStoreLoop", linkerSettings: [.linkedLibrary("sqlite3")]),
  ]
)
