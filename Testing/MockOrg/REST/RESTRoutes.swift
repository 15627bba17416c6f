/// Every path of the REST API below `/services/data/vXX.0`, its methods, and what handles them.
enum RESTRoutes {
  static let table = RouteTable<RESTService, RESTHandler>(
    records + setup + queries + composite + interface + connect + jobs)

  /// The path under which the table has what a request's path leads to.
  static func path(for path: [String]) -> [String] {
    guard path.first == "connect" || path.first == "chatter" else { return path }
    var rest = path.dropFirst()
    // A community has files and users of its own; here they are those of the org.
    while rest.first == "communities", rest.count > 2 { rest = rest.dropFirst(2) }
    return ["connect"] + rest
  }

  private static let records: [RESTRoute] = [
    Route(get: ResourceListResource.list),
    Route("limits", get: LimitsResource.remaining),
    Route("limits", "recordCount", get: LimitsResource.recordCounts),
    Route("recent", get: RecentResource.list),
    Route("compactLayouts", get: DescribeResource.compactLayoutsOfSeveral),

    Route("sobjects", isDescription: true, get: DescribeResource.all),
    Route("sobjects", .object, get: ObjectResource.basicInformation),
    Route("sobjects", .object, "describe", isDescription: true, get: DescribeResource.one),
    Route(
      "sobjects", .object, "describe", "layouts", isDescription: true,
      get: DescribeResource.layouts),
    Route(
      "sobjects", .object, "describe", "layouts", .value("recordType"), isDescription: true,
      get: DescribeResource.layout),
    Route(
      "sobjects", .object, "describe", "compactLayouts", isDescription: true,
      get: DescribeResource.compactLayouts),
    Route(
      "sobjects", .object, "describe", "compactLayouts", .value("recordType"), isDescription: true,
      get: DescribeResource.compactLayout),
    Route("sobjects", .object, "updated", get: ChangesResource.updated),
    Route("sobjects", .object, "deleted", get: ChangesResource.deleted),

    Route("sobjects", .object, post: RecordResource.create),
    Route("sobjects", .object, .anyCase("id"), post: RecordResource.create),
    Route(
      "sobjects", .object, .anyCase("id"), .value("id"), get: RecordResource.retrieve,
      post: RecordResource.create, patch: RecordResource.update, delete: RecordResource.delete),
    Route(
      "sobjects", .object, .record, .anyCase("password"), get: PasswordResource.state,
      post: PasswordResource.set, delete: PasswordResource.reset),
    Route("sobjects", .object, .record, .blob, get: BlobResource.content),
    Route(
      "sobjects", .object, .record, .parent, get: ParentResource.retrieve,
      patch: ParentResource.update, delete: ParentResource.delete),
    Route("sobjects", .object, .record, .value("relationship"), get: ChildrenResource.list),
    Route(
      "sobjects", .object, .value("id"), get: RecordResource.retrieve,
      patch: RecordResource.update, delete: RecordResource.delete),
    Route(
      "sobjects", .object, .value("field"), .value("value"), get: ExternalIDResource.retrieve,
      patch: ExternalIDResource.upsert, delete: ExternalIDResource.delete),
  ]

  /// What administrators set up.
  private static let setup: [RESTRoute] = [
    Route("tabs", get: TabResource.list),
    Route("theme", isDescription: true, get: TabResource.theme),
    Route("quickActions", get: SetupListResource.quickActions),
    Route("sobjects", .object, "quickActions", get: SetupListResource.quickActions),
    Route("sobjects", .object, "listviews", get: SetupListResource.listViews),
    Route("sobjects", .object, "listviews", "recent", get: SetupListResource.listViews),
    Route(
      "sobjects", .object, "describe", "approvalLayouts", isDescription: true,
      get: SetupListResource.approvalLayouts),
    Route("process", get: SetupListResource.processes),
    Route("process", "rules", get: SetupListResource.processRules),
    Route("process", "approvals", get: SetupListResource.approvals),
    Route("appMenu", get: SetupListResource.appMenus),
    Route("appMenu", "AppSwitcher", get: SetupListResource.appMenu),
    Route("appMenu", "Salesforce1", get: SetupListResource.appMenu),
    Route("actions", get: SetupListResource.actions),
    Route("actions", "standard", get: SetupListResource.actionList),
    Route("actions", "custom", get: SetupListResource.customActions),
    Route("actions", "custom", .value("kind"), get: SetupListResource.actionList),
  ]

  private static let queries: [RESTRoute] = [
    Route("query", get: QueryResource.query),
    Route("query", .value("locator"), get: QueryResource.page),
    Route("queryAll", get: QueryResource.queryAll),
    Route("queryAll", .value("locator"), get: QueryResource.page),
    Route("search", get: SearchResource.search),
    Route("search", "scopeOrder", get: SearchAidsResource.scopeOrder),
    Route("search", "layout", get: SearchAidsResource.layouts),
    Route("search", "suggestions", get: SearchAidsResource.suggestions),
    Route(
      "parameterizedSearch", get: SearchResource.parameterizedSearch,
      post: SearchResource.parameterizedSearchInBody),
  ]

  private static let composite: [RESTRoute] = [
    Route("composite", get: CompositeResource.list, post: CompositeResource.perform),
    Route("composite", "batch", post: BatchResource.perform),
    Route("composite", "graph", post: GraphResource.perform),
    Route("composite", "tree", .object, post: TreeResource.create),
    Route(
      "composite", "sobjects", post: CollectionResource.create, patch: CollectionResource.update,
      delete: CollectionResource.delete),
    Route(
      "composite", "sobjects", .object, get: CollectionRetrieveResource.retrieve,
      post: CollectionRetrieveResource.retrieveByBody),
    Route(
      "composite", "sobjects", .object, .value("field"), patch: CollectionResource.upsert),
  ]

  /// The User Interface API.
  private static let interface: [RESTRoute] = [
    Route("ui-api", "object-info", get: ObjectInfoResource.all),
    Route("ui-api", "object-info", "batch", .value("names"), get: ObjectInfoResource.batch),
    Route("ui-api", "object-info", .object, get: ObjectInfoResource.one),
    Route(
      "ui-api", "object-info", .object, "picklist-values", .value("recordType"),
      get: ObjectInfoResource.picklists),
    Route(
      "ui-api", "object-info", .object, "picklist-values", .value("recordType"), .value("field"),
      get: ObjectInfoResource.picklist),
    Route("ui-api", "layout", .object, get: InterfacePageResource.layout),
    Route("ui-api", "record-ui", .value("ids"), get: InterfacePageResource.records),
    Route(
      "ui-api", "record-defaults", "create", .object, get: InterfacePageResource.createDefaults),
    Route("ui-api", "records", post: InterfaceRecordResource.create),
    Route("ui-api", "records", "batch", .value("ids"), get: InterfaceRecordResource.batch),
    Route(
      "ui-api", "records", .value("id"), get: InterfaceRecordResource.retrieve,
      patch: InterfaceRecordResource.update, delete: InterfaceRecordResource.delete),
  ]

  /// The Connect API, whose older name is `/chatter`.
  private static let connect: [RESTRoute] = [
    Route("connect", "briefcase", "priming-records", get: BriefcaseResource.primingRecords),
    Route("connect", "proxy", "app-analytics-logging", post: AnalyticsResource.accept),
    Route(
      "connect", "user-profiles", .value("user"), "photo", get: ProfilePhotoResource.retrieve,
      post: ProfilePhotoResource.upload),

    Route(
      "connect", "notifications", get: NotificationResource.list,
      patch: NotificationResource.markSeveral),
    Route("connect", "notifications", "status", get: NotificationResource.status),
    Route("connect", "notifications", "types", since: 64, get: NotificationResource.types),
    Route(
      "connect", "notifications", .value("id"), get: NotificationResource.one,
      patch: NotificationResource.mark),
    Route(
      "connect", "notifications", .value("id"), "actions", .value("action"), since: 64,
      post: NotificationResource.performAction),

    Route(
      "connect", "files", "users", .value("user"), get: FileListResource.owned,
      post: FileListResource.upload),
    Route(
      "connect", "files", "users", .value("user"), "filter", "sharedwithme",
      get: FileListResource.sharedWithMe),
    Route(
      "connect", "files", "users", .value("user"), "filter", "groups",
      get: FileListResource.inGroups),
    Route("connect", "files", "batch", .value("ids"), get: FileResource.batch),
    Route(
      "connect", "files", .value("id"), get: FileResource.retrieve, delete: FileResource.delete),
    Route("connect", "files", .value("id"), post: FileListResource.uploadVersion),
    Route("connect", "files", .value("id"), "content", get: FileResource.content),
    Route("connect", "files", .value("id"), "rendition", get: FileResource.rendition),
    Route("connect", "files", .value("id"), "file-shares", get: FileResource.shares),
  ]

  /// The Bulk API 2.0.
  private static let jobs: [RESTRoute] = [
    Route("jobs", "ingest", get: IngestJobResource.list, post: IngestJobResource.create),
    Route(
      "jobs", "ingest", .value("job"), get: IngestJobResource.state,
      patch: IngestJobResource.change, delete: IngestJobResource.delete),
    Route("jobs", "ingest", .value("job"), "batches", put: IngestJobResource.upload),
    Route(
      "jobs", "ingest", .value("job"), .anyCase("successfulResults"),
      get: IngestJobResource.successfulResults),
    Route(
      "jobs", "ingest", .value("job"), .anyCase("failedResults"),
      get: IngestJobResource.failedResults),
    Route(
      "jobs", "ingest", .value("job"), .anyCase("unprocessedRecords"),
      get: IngestJobResource.unprocessedRecords),
    Route("jobs", "query", get: QueryJobResource.list, post: QueryJobResource.create),
    Route(
      "jobs", "query", .value("job"), get: QueryJobResource.state, patch: QueryJobResource.abort,
      delete: QueryJobResource.delete),
    Route("jobs", "query", .value("job"), "results", get: QueryJobResource.results),
    Route(
      "jobs", "query", .value("job"), "resultPages", since: 58, get: QueryJobResource.resultPages),
  ]
}
