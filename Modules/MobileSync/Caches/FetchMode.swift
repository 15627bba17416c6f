/// Where a cached value comes from.
public enum FetchMode: Sendable, Hashable {
  /// The cache alone; no request is sent.
  case cacheOnly
  /// The cache; the server if it has nothing.
  case cacheFirst
  /// The server; the cache if the server cannot be reached.
  case serverFirst
}
