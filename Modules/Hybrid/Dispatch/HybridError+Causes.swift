import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

extension HybridError {
  /// The error that a page receives for any error: its message, without the name of its type.
  package init(_ error: any Error) {
    switch error {
    case let error as HybridError: self = error
    case let error as SmartStoreError: self.init(.failed, error.message, cause: error)
    case let error as SyncError: self.init(.failed, error.message, cause: error)
    case let error as RestError: self.init(.failed, error.message, cause: error)
    case let error as OAuthError: self.init(.failed, error.message, cause: error)
    case let error as AccountError: self.init(.failed, error.message, cause: error)
    case let error as JSONError: self.init(.invalidArguments, error.description, cause: error)
    case is CancellationError: self.init(.failed, "The call was cancelled. Call again.")
    default: self.init(.failed, "\(error)", cause: error)
    }
  }
}
