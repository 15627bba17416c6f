public import SalesforceSDKCommon

extension StoreReading where Self: ~Copyable {
  /// Returns one page of a query's results, decoded as a type of the caller directly from the
  /// stored text.
  ///
  /// An entry is decoded from its stored text. A row with one value is decoded from that value:
  /// `select count(*) from {accounts}` as `Int`, `select {accounts:_soup} …` as an account. A row
  /// with several values is decoded from an object with a member for each value. The member's name
  /// is the select path or, in a smart query, the column's name: `select {accounts:Name} as name,
  /// …`.
  ///
  /// - Parameter dates: The format of dates in the text. Default: Salesforce's.
  /// - Throws: As ``query(using:startingFromPageIndex:whereArgs:)``, and ``SmartStoreError``
  ///   `notDecodable` if a result does not fit the type; its cause names the member.
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

  /// Returns the entries with these ids, each once, decoded as a type of the caller.
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
