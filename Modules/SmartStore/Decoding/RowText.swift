import SalesforceSDKCommon

extension ResultRow {
  /// Returns the JSON text from which a value is decoded: the text of the row's only column, or an
  /// object with a member for each column.
  func slice(named names: [String]) throws(SmartStoreError) -> JSONSlice {
    if columnCount == 1 {
      let value = try column(0)
      // On the empty side of an outer join an entry is null.
      if isElement(0), case .text(let text) = value { return try parse(text) }
      return try parse(SerializedRows.text(of: value, isElement: false))
    }
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    for column in 0..<columnCount {
      if column > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += JSONValue.string(column < names.count ? names[column] : name(column)).text.utf8
      bytes.append(UInt8(ascii: ":"))
      bytes += SerializedRows.text(of: try self.column(column), isElement: isElement(column))
    }
    bytes.append(UInt8(ascii: "}"))
    return try parse(bytes)
  }
}

extension StoreAccess {
  /// Returns one page of a query's results, each as the JSON text from which a value is decoded.
  func slices(
    _ spec: QuerySpec, pageIndex: Int, whereArgs: [JSONValue]?, method: String = #function
  ) throws(SmartStoreError) -> [JSONSlice] {
    var slices: [JSONSlice] = []
    try forEachRow(
      spec, pageIndex: pageIndex, whereArgs: whereArgs, method: method
    ) { row, plan throws(SmartStoreError) in
      slices.append(try plan.givesElements ? row.element(0) : row.slice(named: plan.columnNames))
    }
    return slices
  }
}

extension JSONSlice {
  /// Decodes the value as `type`.
  func decoded<T: Decodable>(
    as type: T.Type, dates: JSONDates
  ) throws(SmartStoreError) -> T {
    do throws(JSONError) {
      return try decode(as: type, dates: dates)
    } catch {
      throw SmartStoreError(
        .notDecodable,
        "A stored value is no \(type)\(error.path.map { ", at \($0)" } ?? ""). Correct the type, or the "
          + "element.", cause: error)
    }
  }
}
