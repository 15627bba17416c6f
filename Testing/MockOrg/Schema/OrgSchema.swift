/// The objects of an org, found by name or by the prefix of their ids.
struct OrgSchema: Sendable {
  private var objectsByLowercaseName: [String: ObjectSchema] = [:]
  private var namesByKeyPrefix: [String: String] = [:]
  /// Which records the user sees for whom this schema was made; nil for all.
  private(set) var access: RecordAccess?

  init(_ objects: some Sequence<ObjectSchema> = []) {
    for object in objects { place(object) }
    resolveFormulas()
  }

  /// A schema for one user, whose objects have their formulas already.
  init(_ objects: some Sequence<ObjectSchema>, access: RecordAccess?) {
    for object in objects { place(object) }
    self.access = access
  }

  /// All objects, sorted by name.
  var objects: [ObjectSchema] {
    objectsByLowercaseName.values.sorted { $0.name < $1.name }
  }

  /// The object of a name in whatever case.
  func object(named name: String) -> ObjectSchema? {
    objectsByLowercaseName[name.lowercased()]
  }

  /// The object whose ids begin with `prefix` (the first three characters; case matters).
  func object(keyPrefix prefix: some StringProtocol) -> ObjectSchema? {
    namesByKeyPrefix[String(prefix)].flatMap { objectsByLowercaseName[$0] }
  }

  /// Adds an object, or puts it in the place of the one with its name.
  mutating func insert(_ object: ObjectSchema) {
    place(object)
    resolveFormulas()
  }

  /// Compiles the formulas again that reach beyond their record: any object may be a parent.
  private mutating func resolveFormulas() {
    for (key, object) in objectsByLowercaseName where object.fields.contains(where: \.isComputed) {
      let formulas = FormulaText.all(of: object, in: self)
      objectsByLowercaseName[key]?.formulas = formulas
    }
  }

  private mutating func place(_ object: ObjectSchema) {
    let key = object.name.lowercased()
    if let prefix = objectsByLowercaseName[key]?.keyPrefix { namesByKeyPrefix[prefix] = nil }
    objectsByLowercaseName[key] = object
    if let prefix = object.keyPrefix { namesByKeyPrefix[prefix] = key }
  }
}
