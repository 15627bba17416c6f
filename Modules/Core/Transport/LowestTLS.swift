#if canImport(FoundationNetworking)
  import ProcessSystem
  import SalesforceSDKCommon

  /// TLS 1.2 as the lowest version of connections on Linux, where URLSession has no setting for it.
  enum LowestTLS {
    /// Whether it is in force. The first access sets it up, for the whole process.
    static let isDemanded: Bool = {
      let isDemanded = process_demand_tls_1_2() == 0
      if !isDemanded {
        CoreLogger.log.warning(
          "The lowest version of TLS is the system's: there is no OpenSSL that can be set up.")
      }
      return isDemanded
    }()
  }
#endif
