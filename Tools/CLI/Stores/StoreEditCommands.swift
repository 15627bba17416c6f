import ArgumentParser
import MobileSync
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store create`: a record that the next sync up creates.
struct StoreCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a record locally; the next sync up sends it.",
    discussion: """
      A value is JSON, or else text.
      Example:
        fieldforce store create accounts --type Account Name='Harbor Repair' \\
          NumberOfEmployees=12
      """)

  @Argument(help: "The soup's name.") var soup: String
  @Option(help: "The object type, such as Account.") var type: String
  @Argument(help: ArgumentHelp("The values.", valueName: "field=value")) var values: [String]
  @OptionGroup var id: IdFieldOption
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws { _ = try FieldValues(values) }

  func run() async throws {
    let fields = try FieldValues(values).object
    try await store.withStore { store in
      let entry = try await store.createRecord(fields, type: type, in: soup, idField: id.idField)
      output.print(["entry": entry]) { ["created \(entry[id.idField]?.string ?? "")"] }
    }
  }
}

/// `fieldforce store edit`: changed fields of a record.
struct StoreEditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Edit a record locally; the next sync up sends the change.",
    discussion: """
      A value is JSON, or else text; null clears a field.
      Example:
        fieldforce store edit accounts 001000000000001AAA Phone=555-0100 Fax=null
      """)

  @Argument(help: "The soup's name.") var soup: String
  @Argument(help: "The record's id.") var recordId: String
  @Argument(help: ArgumentHelp("The values.", valueName: "field=value")) var values: [String]
  @OptionGroup var id: IdFieldOption
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws { _ = try FieldValues(values) }

  func run() async throws {
    let fields = try FieldValues(values).object
    try await store.withStore { store in
      let entry = try await store.editRecord(id: recordId, in: soup, idField: id.idField) {
        record in
        for (key, value) in fields { record[key] = value }
      }
      output.print(["entry": entry]) { ["edited \(recordId)"] }
    }
  }
}

/// `fieldforce store delete`: a record that the next sync up deletes.
struct StoreDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a record locally; the next sync up deletes it on the server.",
    discussion: """
      The entry stays until then; 'store remove' removes an entry of this store alone.
      Example: fieldforce store delete accounts 001000000000001AAA
      """)

  @Argument(help: "The soup's name.") var soup: String
  @Argument(help: "The record's id.") var recordId: String
  @OptionGroup var id: IdFieldOption
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withStore { store in
      try await store.deleteRecord(id: recordId, in: soup, idField: id.idField)
      output.print(["deleted": .string(recordId)]) { ["deleted \(recordId)"] }
    }
  }
}

/// `fieldforce store undo`: the version of a record before its local changes.
struct StoreUndoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo the local changes of a record that were not uploaded.",
    discussion: """
      The record returns to the last version of the server; one that was created
      locally is removed.
      Example: fieldforce store undo accounts 001000000000001AAA
      """)

  @Argument(help: "The soup's name.") var soup: String
  @Argument(help: "The record's id.") var recordId: String
  @OptionGroup var id: IdFieldOption
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withStore { store in
      try await store.undoEdit(id: recordId, in: soup, idField: id.idField)
      output.print(["undone": .string(recordId)]) { ["undid the changes of \(recordId)"] }
    }
  }
}

/// The field that holds the ids of a soup's records.
struct IdFieldOption: ParsableArguments {
  @Option(help: "The field that holds the records' ids.") var idField = SyncKeys.defaultIdField
}
