/// A sync down target whose pages can be requested ahead, several at a time.
///
/// Over a network, a download mostly waits for responses. The engine requests at most six pages of
/// such a target ahead, fewer if they are large; a stop cancels the requests.
public protocol PagePredicting: SyncDownTarget {
  /// Predicts the cursor after `cursor`, before the page of `cursor` has arrived.
  ///
  /// A wrong prediction costs requests, never records: the engine follows each page's own ``SyncPage/next``.
  ///
  /// - Parameters:
  ///   - pageSize: The number of records in the page that is being saved.
  ///   - totalSize: The total number of records according to that page.
  /// - Returns: nil if it cannot be predicted, or there is none. The engine then requests the page
  ///   as soon as the page of `cursor` has arrived, while earlier pages are saved.
  func cursor(after cursor: Cursor, pageSize: Int, totalSize: Int) -> Cursor?
}

/// A sync down target that has something to clean up on the server at the end of a run, such as a job.
public protocol SyncDownFinishing: SyncDownTarget {
  /// Cleans up after all pages of a run are saved. It is not called if the run stopped, failed or
  /// was killed.
  ///
  /// ``SyncContext/checkpoint`` is that of the last page. A failure of this call does not fail the
  /// run.
  func finished(in context: SyncContext) async
}
