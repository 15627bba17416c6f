public import MobileSync

extension BriefcaseSyncDownTarget: FieldBackfilling {
  /// Returns the added fields, each with the object's name and a slash as prefix. nil if the
  /// targets differ in more than their field lists.
  public func addedFields(since other: BriefcaseSyncDownTarget) -> [String]? {
    guard infos.map({ $0.bringing([]) }) == other.infos.map({ $0.bringing([]) }) else { return nil }
    return zip(infos, other.infos).flatMap { info, old in
      SOQLNames.missing(info.fieldlist, in: old.fieldlist).map { "\(info.sobjectType)/\($0)" }
    }
  }

  /// Returns the same target with fewer fields.
  public func narrowed(to fields: [String]) -> BriefcaseSyncDownTarget {
    BriefcaseSyncDownTarget(
      infos: infos.map { info in
        let start = "\(info.sobjectType)/"
        return info.bringing(
          fields.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) })
      }, countIdsPerRetrieve: countIdsPerRetrieve)
  }
}

extension BriefcaseObjectInfo {
  /// The same object with other fields.
  fileprivate func bringing(_ fields: [String]) -> BriefcaseObjectInfo {
    BriefcaseObjectInfo(
      sobjectType: sobjectType, soupName: soupName, fieldlist: fields, names: names)
  }
}

extension BriefcaseSyncDownTarget: DownloadedFieldListing {
  /// The fields of all objects that go into the soup.
  public func downloadedFields(into soupName: String) -> [String]? {
    let own = infos.filter { $0.soupName == soupName }
    return own.isEmpty ? nil : own.flatMap(\.fieldlist)
  }

  /// The object whose records go into the soup; nil if there are several.
  public func downloadedObject(into soupName: String) -> String? {
    let own = infos.filter { $0.soupName == soupName }
    return own.count == 1 ? own.first?.sobjectType : nil
  }
}
