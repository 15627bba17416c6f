import GRDB

/// `/limits`: what is left of each allowance, and how many records there are.
struct LimitsResource: Resource {
  /// What an org of the Developer Edition may do in a day or at once. Those without a count here are
  /// never used up.
  private static let allowances: [(name: String, max: Int)] = [
    ("ActiveScratchOrgs", 3), ("AnalyticsExternalDataSizeMB", 40_960),
    ("ConcurrentAsyncGetReportInstances", 200), ("ConcurrentEinsteinDataInsightsStoryCreation", 5),
    ("ConcurrentSyncReportRuns", 20), ("DailyAnalyticsDataflowJobExecutions", 60),
    ("DailyApiRequests", 15_000), ("DailyAsyncApexExecutions", 250_000),
    ("DailyAsyncApexTests", 500), ("DailyBulkApiBatches", 15_000),
    ("DailyBulkV2QueryFileStorageMB", 976_562), ("DailyBulkV2QueryJobs", 10_000),
    ("DailyDeliveredPlatformEvents", 10_000), ("DailyDurableGenericStreamingApiEvents", 10_000),
    ("DailyDurableStreamingApiEvents", 10_000), ("DailyFunctionsApiCallLimit", 235_000),
    ("DailyGenericStreamingApiEvents", 10_000), ("DailyScratchOrgs", 6),
    ("DailyStandardVolumePlatformEvents", 10_000), ("DailyStreamingApiEvents", 10_000),
    ("DailyWorkflowEmails", 100_000), ("DataStorageMB", 5),
    ("DurableStreamingApiConcurrentClients", 20),
    ("FileStorageMB", 20), ("HourlyAsyncReportRuns", 1200), ("HourlyDashboardRefreshes", 200),
    ("HourlyDashboardResults", 5000), ("HourlyDashboardStatuses", 999_999_999),
    ("HourlyLongTermIdMapping", 100_000), ("HourlyManagedContentPublicRequests", 50_000),
    ("HourlyODataCallout", 20_000), ("HourlyPublishedPlatformEvents", 50_000),
    ("HourlyPublishedStandardVolumePlatformEvents", 1000), ("HourlyShortTermIdMapping", 100_000),
    ("HourlySyncReportRuns", 500), ("HourlyTimeBasedWorkflow", 50), ("MassEmail", 10),
    ("MonthlyEinsteinDiscoveryStoryCreation", 500), ("MonthlyPlatformEventsUsageEntitlement", 0),
    ("Package2VersionCreates", 6), ("PermissionSets", 1500),
    ("PrivateConnectOutboundCalloutHourlyLimitMB", 0),
    ("SingleEmail", 15), ("StreamingApiConcurrentClients", 20),
  ]

  let call: RESTCall

  func remaining() throws -> OrgResponse {
    let used: [String: Int] = [
      "DailyApiRequests": transaction.requestCount,
      "DailyBulkApiBatches": org.jobs.count(.ingest),
      "DailyBulkV2QueryJobs": org.jobs.count(.query),
      "DataStorageMB": try recordCount() * 2 / 1024,
    ]
    return .json(
      .object(
        Self.allowances.map { name, usual in
          let max = name == "DailyApiRequests" ? org.options.dailyRequests : usual
          let remaining = Swift.max(0, max - (used[name] ?? 0))
          return (name, ["Max": .integer(max), "Remaining": .integer(remaining)])
        }))
  }

  /// About how many records the org has: the platform counts two kilobytes for each.
  private func recordCount() throws -> Int {
    try transaction.schema.objects.reduce(0) { sum, object in
      sum
        + (try Int.fetchOne(
          transaction.database, sql: "SELECT IFNULL(MAX(rowid), 0) FROM \(object.table.name)") ?? 0)
    }
  }

  /// `/limits/recordCount?sObjects=A,B`.
  func recordCounts() throws -> OrgResponse {
    let names = request.list("sObjects")
    let objects =
      names.isEmpty
      ? transaction.schema.objects : names.compactMap { transaction.schema.object(named: $0) }
    return .json([
      "sObjects": try .array(objects) { object in
        let count = try Int.fetchOne(
          transaction.database,
          sql: "SELECT COUNT(*) FROM \(object.table.name) WHERE \"IsDeleted\" = 0")
        return ["count": .integer(count ?? 0), "name": .string(object.name)]
      }
    ])
  }
}
