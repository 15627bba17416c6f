// swift-tools-version: 6.2
import PackageDescription

// com.example.templatetarget
let package = Package(
  name: "TemplateTarget",
  platforms: [.macOS(.v15)],
  products: [.library(name: "TemplateTarget", targets: ["TemplateTarget"])],
  dependencies: [
    __FIELDFORCE_PACKAGE__
  ],
  targets: [
    .target(
      name: "TemplateTarget",
      dependencies: [
        .product(name: "MobileSync", package: "Fieldforce"),
        .product(name: "SalesforceSDKCommon", package: "Fieldforce"),
        .product(name: "SalesforceSDKCore", package: "Fieldforce"),
      ]),
    .testTarget(
      name: "TemplateTargetTests",
      dependencies: [
        "TemplateTarget", .product(name: "MobileSyncTestSupport", package: "Fieldforce"),
      ]),
  ]
)
