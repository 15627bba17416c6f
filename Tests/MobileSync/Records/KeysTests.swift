import BatchSyncUp
import CollectionSyncUp
import SalesforceSDKCommon
import SalesforceSDKCore
import SoqlSyncDown
import Testing

@testable import MobileSync
import TestSupport

/// Names, limits and dates that are stored or sent.
@Suite struct KeysTests {
  @Test(.covers("MS-1"))
  func `bookkeeping fields are spelled as the platform spells them`() {
    #expect(
      [
        SyncKeys.local, SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted,
        SyncKeys.syncId, SyncKeys.lastError,
      ] == [
        "__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__",
        "__sync_id__", "__last_error__",
      ])
    #expect(RecordFlags.clean.members.allSatisfy { $0.value == false })
  }

  @Test(.covers("MS-2"))
  func `the server's names are these, also by case`() {
    #expect(
      [
        SyncKeys.defaultIdField, SyncKeys.responseId, SyncKeys.defaultModificationDateField,
        SyncKeys.attributes, SyncKeys.type, SyncKeys.records, SyncKeys.totalSize,
        SyncKeys.nextRecordsURL,
      ] == [
        "Id", "id", "LastModifiedDate", "attributes", "type", "records", "totalSize",
        "nextRecordsUrl",
      ])
  }

  @Test(.covers("MS-4"))
  func `sizes are those of the platform`() throws {
    #expect(try SoqlSyncDownTarget(query: "select Id from A").maxBatchSize == 2_000)
    #expect(BatchSyncUpTarget.largestBatchSize == 25)
    #expect(CollectionSyncUpTarget.largestBatchSize == 200)
    #expect(RestRequest.maxCollectionIds == 2_000)
    #expect(SOQLLiteral.maxIds == 500)
    #expect(SyncLimits.idsPerPage == 2_000)
  }

  @Test(
    .covers("MS-5"),
    arguments: [
      "2015-02-05T13:12:03.956-0800", "2015-02-05T21:12:03.956+0000",
      "2015-02-05T21:12:03.956+00:00", "2015-02-05T21:12:03.956Z",
    ])
  func `dates are read in every zone and written in one`(text: String) throws {
    let date = try #require(SalesforceDate.parse(text))
    #expect(date.text == "2015-02-05T21:12:03.956+0000")
    #expect(date.milliseconds == 1_423_170_723_956)
    #expect(PercentEncoding.encode(date.text).contains("%2B0000"))
  }

  @Test(.covers("MS-317"))
  func `the log's component is MobileSync`() {
    #expect(MobileSyncLogger.log.component == "MobileSync")
  }
}
