public import SalesforceSDKCommon

extension StoreReading where Self: ~Copyable {
  /// One page of a query's results as values of your own type, decoded directly from the stored text.
  ///
  /// An entry decodes from its stored text. A row with one value decodes from that value:
  /// `select count(*) from {accounts}` as `Int`, `select {accounts:_soup} …` as an account. A row with
  /// several values decodes from an object with a member for each value, named by its select path or, in a
  /// smart query, by the column's name: `select {accounts:Name} as name, …`.
  ///
  /// - Parameter dates: How dates stand in the text. Default: as Salesforce writes them.
  /// - Throws: As ``query(using:startingFromPageIndex:whereArgs:)``, and ``SmartStoreError``
  ///   `notDecodable` if a result does not fit the type; its cause tells the member.
  public borrowing func query<T: Decodable>(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil, as type: T.Type, dates: JSONDates = .salesforce
  ) throws(SmartStoreError) -> [T] {
    var values: [T] = []
    for slice in try access.slices(querySpec, pageIndex: pageIndex, whereArgs: whereArgs) {
      values.append(try slice.decoded(as: type, dates: dates))
    }
    return values
  }

  /// The entries with these ids as values of your own type, each once.
  ///
  /// - Throws: As ``retrieve(usingSoupEntryIds:fromSoupNamed:)``, and ``SmartStoreError``
  ///   `notDecodable`.
  public borrowing func retrieve<T: Decodable>(
    usingSoupEntryIds entryIds: [Int64], fromSoupNamed soupName: String, as type: T.Type,
    dates: JSONDates = .salesforce
  ) throws(SmartStoreError) -> [T] {
    var values: [T] = []
    for slice in try retrieve(usingSoupEntryIds: entryIds, fromSoupNamed: soupName) {
      values.append(try slice.decoded(as: type, dates: dates))
    }
    return values
  }
}
