/// A sync down target whose pages are requested several at a time, ahead of the one that is saved.
///
/// Over a network most of the time of a download is waiting for responses. At most six pages of such a target are
/// requested ahead, fewer if they are large; a stop ends the requests.
public protocol PagePredicting: SyncDownTarget {
  /// The cursor behind `cursor`, as far as it can be predicted before the page of `cursor` has come.
  ///
  /// A wrong prediction costs requests, never records: the engine follows each page's own ``SyncPage/next``.
  ///
  /// - Parameters:
  ///   - pageSize: How many records the page that is being saved has.
  ///   - totalSize: How many records that page says the run has.
  /// - Returns: nil if it cannot be predicted, or there is none. Then the page is requested as soon as the one of
  ///   `cursor` has come, while earlier ones are saved.
  func cursor(after cursor: Cursor, pageSize: Int, totalSize: Int) -> Cursor?
}

/// A sync down target that has something to clean up on the server at the end of a run, such as a job.
public protocol SyncDownFinishing: SyncDownTarget {
  /// Called once all pages of a run are saved; not if it stopped, failed or was killed.
  ///
  /// ``SyncContext/checkpoint`` is that of the last page. What fails here does not fail the run.
  func finished(in context: SyncContext) async
}
