// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no other user of the library needs GTK. It depends on no library of Fieldforce: the
// window starts the program `fieldforce`, which keeps accounts, keys and stores in a process without a web engine.
let package = Package(
  name: "Window",
  products: [.executable(name: "fieldforce-window", targets: ["fieldforce-window"])],
  targets: [
    .systemLibrary(
      name: "CWebKitGTK", pkgConfig: "webkit2gtk-4.1",
      providers: [.apt(["libwebkit2gtk-4.1-dev"])]),
    // The calls of GTK and WebKit, most of which are macros or take variable arguments.
    .target(
      name: "CWindow", dependencies: ["CWebKitGTK"],
      cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])]),
    .executableTarget(
      name: "fieldforce-window", dependencies: ["CWindow"],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
      ]),
  ]
)
