/// Every path of the control endpoint below `/mock-org`, its methods, and what handles them.
enum ControlRoutes {
  typealias Handler = @Sendable (ControlCall) async throws -> OrgResponse

  static let table = RouteTable<ControlService, Handler>([
    Route(path: ["status"], handlers: ["GET": { try await $0.status() }]),
    Route(path: ["objects", .value("name")], handlers: ["GET": { try await $0.records() }]),
    Route(path: ["log"], handlers: ["GET": { $0.log() }, "DELETE": { $0.clearLog() }]),
    Route(
      path: ["analytics"],
      handlers: ["GET": { $0.analytics() }, "DELETE": { $0.clearAnalytics() }]),
    Route(
      path: ["faults"],
      handlers: [
        "GET": { $0.faults() }, "POST": { try $0.addFaults() }, "DELETE": { $0.removeFaults() },
      ]),
    Route(path: ["faults", .value("number")], handlers: ["DELETE": { try $0.removeFault() }]),
    Route(path: ["clock"], handlers: ["POST": { try $0.setClock() }]),
    Route(path: ["snapshots", .value("name")], handlers: ["PUT": { try await $0.keepSnapshot() }]),
    Route(
      path: ["snapshots", .value("name"), "restore"],
      handlers: ["POST": { try await $0.restoreSnapshot() }]),
    Route(path: ["reset"], handlers: ["POST": { try await $0.reset() }]),
    Route(path: ["sessions"], handlers: ["DELETE": { $0.endSessions() }]),
    Route(path: ["briefcase"], handlers: ["PUT": { try $0.setBriefcase() }]),
    Route(path: ["notifications"], handlers: ["POST": { try $0.addNotification() }]),
  ])
}
