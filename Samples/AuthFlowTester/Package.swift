// swift-tools-version: 6.2
import PackageDescription

// Runs every kind of login and shows the result. Outside this repository the first dependency is the package's URL.
let package = Package(
  name: "AuthFlowTester",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Fieldforce", path: "../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
  ],
  targets: [
    .target(
      name: "AuthFlows",
      dependencies: [
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "LoopbackLogin", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ]),
    .executableTarget(name: "AuthFlowTester", dependencies: ["AuthFlows"]),
    .testTarget(
      name: "AuthFlowsTests",
      dependencies: [
        "AuthFlows",
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
      ]),
  ]
)
