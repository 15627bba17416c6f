// swift-tools-version: 6.2
import PackageDescription

// Two sync targets over an endpoint of one's own in Apex. Outside this repository the first dependency
// is the package's URL instead of a path.
let package = Package(
  name: "ApexSyncTarget",
  platforms: [.macOS(.v15)],
  products: [.library(name: "ApexSyncTarget", targets: ["ApexSyncTarget"])],
  dependencies: [
    .package(name: "Fieldforce", path: "../../.."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .target(
      name: "ApexSyncTarget",
      dependencies: [
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "ApexSyncTargetTests",
      dependencies: [
        "ApexSyncTarget",
        .product(name: "MobileSyncTestSupport", package: "Fieldforce"),
        .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
      ],
      resources: [.copy("Resources/usersyncs.json")]),
  ]
)
