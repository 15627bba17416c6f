import Foundation

/// The page that a browser finds at the org's address.
enum StartPage {
  /// The page's bytes, read once from the package's resources.
  static let html: [UInt8] = {
    guard let file = Bundle.module.url(forResource: "Resources/Start/index", withExtension: "html"),
      let data = try? Data(contentsOf: file)
    else { return Array("<!DOCTYPE html><title>Mock org</title>The start page is missing.".utf8) }
    return Array(data)
  }()
}
