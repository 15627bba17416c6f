// swift-tools-version: 6.2
import PackageDescription

// com.example.templatejob
let package = Package(
  name: "TemplateJob",
  platforms: [.macOS(.v15)],
  dependencies: [
    __FIELDFORCE_PACKAGE__,
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
  ],
  targets: [
    .target(
      name: "TemplateJobKit",
      dependencies: [
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "StandardSyncTargets", package: "Fieldforce"),
        .product(name: "SoqlSyncDown", package: "Fieldforce"),
      ]),
    .executableTarget(name: "TemplateJob", dependencies: ["TemplateJobKit"]),
    .testTarget(
      name: "TemplateJobTests",
      dependencies: [
        "TemplateJobKit", .product(name: "SalesforceMockOrg", package: "Fieldforce"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ]),
  ]
)
