import Logging

/// The log of this module. Record contents appear at debug level only, if at all.
enum MobileSyncLogger {
  static let log = Logger(label: "MobileSync")
}
