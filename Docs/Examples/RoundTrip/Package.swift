// swift-tools-version: 6.2
import PackageDescription

// A sync down and a sync up against the mock org. Outside this repository the first dependency is
// the package's URL.
let package = Package(
  name: "RoundTrip",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Fieldforce", path: "../../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "RoundTrip",
      dependencies: [
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "SoqlSyncDown", package: "Fieldforce"),
        .product(name: "StandardSyncTargets", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    // All that a test target needs to run against the mock org.
    .testTarget(
      name: "RoundTripTests",
      dependencies: [.product(name: "SalesforceMockOrg", package: "Fieldforce")]),
  ]
)
