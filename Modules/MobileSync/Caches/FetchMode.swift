/// The source of a cached value: the cache, the server, or one after the other.
public enum FetchMode: Sendable, Hashable {
  /// Only the cache; no request is sent.
  case cacheOnly
  /// The cache; the server if the cache has no entry.
  case cacheFirst
  /// The server; the cache if the server cannot be reached.
  case serverFirst
}
