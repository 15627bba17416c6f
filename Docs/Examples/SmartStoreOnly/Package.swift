// swift-tools-version: 6.2
import PackageDescription

// A program that needs the encrypted store and nothing else. Outside this repository the first
// dependency is the package's URL instead of a path.
let package = Package(
  name: "SmartStoreOnly",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Fieldforce", path: "../../..")],
  targets: [
    .executableTarget(
      name: "SmartStoreOnly",
      dependencies: [
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
      ])
  ]
)
