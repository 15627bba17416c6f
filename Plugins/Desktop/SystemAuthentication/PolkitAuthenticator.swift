#if os(Linux)
  import DBusClient
  import Foundation
  public import SalesforceSDKCore

  /// Authenticates the user of this process by polkit, in the dialog of the desktop (CO-156).
  ///
  /// polkit knows an action by a file in `/usr/share/polkit-1/actions`. Let the action demand
  /// `auth_self`: with `yes` polkit agrees without a question, and with `auth_self_keep` it does so for
  /// minutes after an authentication.
  ///
  /// It is available if polkit knows the action and can show its dialog. A process of root is authorized at once, by
  /// polkit's rules.
  public struct PolkitAuthenticator: DeviceAuthenticator {
    /// The default action, `org.fieldforce.unlock`.
    public static let defaultAction = "org.fieldforce.unlock"

    private static let service = "org.freedesktop.PolicyKit1"
    private let action: String
    private let address: String?
    private let timeout: Duration

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - action: The id of the action.
    ///   - address: The address of the system bus. Default: that of the environment.
    ///   - timeout: The time that the user has for the dialog. Default: 5 minutes.
    public init(
      action: String = Self.defaultAction, address: String? = nil,
      timeout: Duration = .seconds(300)
    ) {
      self.action = action
      self.address = address
      self.timeout = timeout
    }

    /// Whether polkit knows the action, and could authorize this process after an authentication.
    public var isAvailable: Bool {
      get async {
        guard let decision = try? await decision(mayAsk: false) else { return false }
        return decision.isAuthorized || decision.needsAuthentication
      }
    }

    /// Shows polkit's dialog, and returns when the user has authenticated.
    ///
    /// - Throws: ``LockError`` `unavailable` without polkit or the action, `refused`, `cancelled` if the user
    ///   dismissed the dialog; `CancellationError`.
    public func authenticate(for policy: LockPolicy) async throws {
      let decision: Decision
      do {
        decision = try await self.decision(mayAsk: true)
      } catch let error as DBusError {
        try Task.checkCancellation()
        throw LockError(
          error.code == .timedOut ? .cancelled : .unavailable,
          "polkit did not authenticate for the action \(action): \(error.message)", cause: error)
      }
      try Task.checkCancellation()
      guard !decision.isAuthorized else { return }
      if decision.wasDismissed {
        throw LockError(.cancelled, "The authentication was cancelled. The app stays locked.")
      }
      throw LockError(
        .refused, "polkit did not authorize the action \(action). Authenticate again.")
    }

    /// The response of `CheckAuthorization`.
    private struct Decision: Sendable {
      let isAuthorized: Bool
      let needsAuthentication: Bool
      let wasDismissed: Bool

      init(_ values: [DBusValue]) throws(DBusError) {
        guard case .structure(let members)? = values.first, members.count == 3,
          let isAuthorized = members[0].bool, let needsAuthentication = members[1].bool
        else { throw DBusError(.malformed, "polkit's decision has another form.") }
        self.isAuthorized = isAuthorized
        self.needsAuthentication = needsAuthentication
        wasDismissed = members[2]["polkit.dismissed"]?.text?.isEmpty == false
      }
    }

    private func decision(mayAsk: Bool) async throws -> Decision {
      let call = PolkitCall(
        bus: address, timeout: mayAsk ? timeout : .seconds(10),
        arguments: [
          Self.subject, .string(action), .texts([:]), .uint32(mayAsk ? 1 : 0), .string(""),
        ])
      return try Decision(try await call.values(of: Self.service))
    }

    /// This process, with the moment of its start: its number alone could be another's later.
    private static var subject: DBusValue {
      .structure([
        .string("unix-process"),
        .dictionary(
          "s", "v",
          [
            (.string("pid"), .variant(.uint32(UInt32(getpid())))),
            (.string("start-time"), .variant(.uint64(startTime))),
            (.string("uid"), .variant(.int32(Int32(bitPattern: getuid())))),
          ]),
      ])
    }

    /// The moment of the process's start in the kernel's ticks, the 22nd field of its line; 0 lets polkit look.
    private static var startTime: UInt64 {
      guard let line = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
        let end = line.lastIndex(of: ")")
      else { return 0 }
      // The program's name, the 2nd field, may contain spaces.
      let fields = line[line.index(after: end)...].split(separator: " ")
      return fields.count > 19 ? UInt64(fields[19]) ?? 0 : 0
    }
  }
#endif
