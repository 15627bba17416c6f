// swift-tools-version: 6.2
import PackageDescription

// com.example.templateapp
let package = Package(
  name: "TemplateApp",
  platforms: [.macOS(.v15)],
  dependencies: [
    __FIELDFORCE_PACKAGE__
  ],
  targets: [
    .target(
      name: "TemplateAppKit",
      dependencies: [
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
        .product(name: "SmartStore", package: "Fieldforce"),
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "StandardSyncTargets", package: "Fieldforce"),
        .product(name: "LoopbackLogin", package: "Fieldforce"),
      ],
      resources: [.copy("Resources")]),
    .executableTarget(name: "TemplateApp", dependencies: ["TemplateAppKit"]),
    .testTarget(
      name: "TemplateAppTests",
      dependencies: [
        "TemplateAppKit", .product(name: "SalesforceMockOrg", package: "Fieldforce"),
      ]),
  ]
)
