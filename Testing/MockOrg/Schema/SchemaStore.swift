import Synchronization

import struct Foundation.Date

/// The objects of an org as each user may see them.
final class SchemaStore: Sendable {
  private struct State {
    var full: OrgSchema
    /// When the schema changed last.
    var modified: Date
    /// What users see who do not see everything, made when they first ask.
    var restricted: [String: OrgSchema] = [:]
  }

  private let state: Mutex<State>
  private let profiles: [String: MockOrgProfile]

  init(_ schema: OrgSchema, modified: Date, users: [LoginUser]) {
    state = Mutex(State(full: schema, modified: modified))
    profiles = Dictionary(
      users.filter { !$0.profile.seesEverything }.map { ($0.id, $0.profile) }
    ) { first, _ in first }
  }

  var full: OrgSchema { state.withLock { $0.full } }

  var modified: Date { state.withLock { $0.modified } }

  /// What a user may see.
  func schema(for userID: String) -> OrgSchema {
    guard let profile = profiles[userID] else { return full }
    return state.withLock { state in
      if let known = state.restricted[userID] { return known }
      let schema = state.full.restricted(to: profile, userID: userID)
      state.restricted[userID] = schema
      return schema
    }
  }

  /// Adds an object, or puts it in the place of the one with its name.
  func insert(_ object: ObjectSchema) {
    state.withLock { state in
      state.full.insert(object)
      state.restricted = [:]
    }
  }

  /// Takes up some of another schema's objects; those that another task added since stay.
  func insert(_ names: Set<String>, of schema: OrgSchema, at date: Date) {
    state.withLock { state in
      for object in schema.objects where names.contains(object.name) { state.full.insert(object) }
      state.restricted = [:]
      state.modified = date
    }
  }

  /// Goes back to an earlier schema.
  func replace(by schema: OrgSchema, at date: Date) {
    state.withLock { state in
      state.full = schema
      state.restricted = [:]
      state.modified = date
    }
  }
}

extension OrgSchema {
  /// The schema without what a profile must not see, and without the rights that it lacks.
  func restricted(to profile: MockOrgProfile, userID: String) -> OrgSchema {
    let hidden = Set(profile.hiddenObjects.map { $0.lowercased() })
    let readOnly = Set(profile.readOnlyObjects.map { $0.lowercased() })
    func names(_ fields: [String: Set<String>], _ object: ObjectSchema) -> Set<String> {
      let names = fields.first { $0.key.lowercased() == object.name.lowercased() }?.value ?? []
      return Set(names.map { $0.lowercased() })
    }
    let visible = objects.filter { !hidden.contains($0.name.lowercased()) }
      .map { object in
        let hiddenFields = names(profile.hiddenFields, object)
        let readOnlyFields = names(profile.readOnlyFields, object)
        var fields = object.fields.filter { field in
          // Every user needs these.
          field.type == .id || field.name == "IsDeleted" || field.name == "SystemModstamp"
            || !hiddenFields.contains(field.name.lowercased())
        }
        for index in fields.indices where readOnlyFields.contains(fields[index].name.lowercased()) {
          fields[index].createable = false
          fields[index].updateable = false
        }
        var copy = object.with(fields: fields)
        if readOnly.contains(object.name.lowercased()) {
          copy.createable = false
          copy.updateable = false
          copy.deletable = false
          copy.undeletable = false
        }
        copy.childRelationships.removeAll { hidden.contains($0.childObject.lowercased()) }
        // Formulas see also what the user does not.
        copy.formulas = object.formulas
        return copy
      }
    return OrgSchema(
      visible,
      access: profile.modifiesAllData ? nil : RecordAccess(userID: userID, profile: profile))
  }
}
