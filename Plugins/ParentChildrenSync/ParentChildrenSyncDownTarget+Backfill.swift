public import MobileSync

extension ParentChildrenSyncDownTarget: FieldBackfilling {
  /// Returns the added fields: those of parents by their names, those of children with the
  /// relationship's name and a slash as prefix. nil if the targets differ in more than their field
  /// lists.
  public func addedFields(since other: ParentChildrenSyncDownTarget) -> [String]? {
    guard parent == other.parent, children == other.children,
      parentSoqlFilter == other.parentSoqlFilter, relationshipType == other.relationshipType
    else { return nil }
    return SOQLNames.missing(parentFieldlist, in: other.parentFieldlist)
      + SOQLNames.missing(childrenFieldlist, in: other.childrenFieldlist)
      .map { ofChildren + $0 }
  }

  /// Returns the same target with fewer fields.
  public func narrowed(to fields: [String]) -> ParentChildrenSyncDownTarget {
    ParentChildrenSyncDownTarget(
      parent: parent, parentFieldlist: fields.filter { !$0.hasPrefix(ofChildren) },
      parentSoqlFilter: parentSoqlFilter, children: children,
      childrenFieldlist: fields.filter { $0.hasPrefix(ofChildren) }
        .map { String($0.dropFirst(ofChildren.count)) },
      relationshipType: relationshipType, maxBatchSize: maxBatchSize)
  }

  private var ofChildren: String { children.sobjectTypePlural + "/" }
}

extension ParentChildrenSyncDownTarget: DownloadedFieldListing {
  /// The fields of parents or of children.
  public func downloadedFields(into soupName: String) -> [String]? {
    switch soupName {
    case parent.soupName: parentFieldlist
    case children.soupName: childrenFieldlist
    default: nil
    }
  }

  /// The object of parents or of children.
  public func downloadedObject(into soupName: String) -> String? {
    switch soupName {
    case parent.soupName: parent.sobjectType
    case children.soupName: children.sobjectType
    default: nil
    }
  }
}
