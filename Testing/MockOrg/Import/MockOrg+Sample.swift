public import Foundation

extension MockOrg {
  /// A small plan to try things with: a service company's accounts, contacts and visits.
  public static var samplePlan: URL {
    Bundle.module.bundleURL.appending(path: "Resources/Sample/plan.json")
  }
}
