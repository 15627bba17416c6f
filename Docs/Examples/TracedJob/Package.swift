// swift-tools-version: 6.2
import PackageDescription

// A server job that prints its spans and metrics. Outside this repository the first dependency is the package's URL.
let package = Package(
  name: "TracedJob",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Fieldforce", path: "../../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.2"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "TracedJob",
      dependencies: [
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "SoqlSyncDown", package: "Fieldforce"),
        .product(name: "StandardSyncTargets", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ])
  ]
)
