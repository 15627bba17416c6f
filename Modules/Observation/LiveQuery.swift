public import Observation
public import SalesforceSDKCommon
public import SmartStore

/// The newest result of a query, for views that follow it.
///
/// ```swift
/// struct OpenOrders: View {
///   @State var orders: LiveQuery<[Order]>
///   var body: some View {
///     List(orders.value ?? []) { Text($0.name) }.task { await orders.run() }
///   }
/// }
/// ```
///
/// The query is run by ``run()``, in the task of the caller, and the properties change in the isolation of that
/// caller: on the main actor if a view calls it. Nothing is read before.
@Observable public final class LiveQuery<Value: Sendable> {
  /// The newest result; nil before the first. It stays after the end.
  public private(set) var value: Value?
  /// The error that ended the query; nil while it runs, before its first run, and after a
  /// cancellation or the closing of the store.
  public private(set) var error: (any Error)?
  /// Whether ``run()`` follows the query now.
  public private(set) var isRunning = false

  @ObservationIgnored private let results: () -> any AsyncSequence<Value, any Error>

  init(_ results: @escaping () -> any AsyncSequence<Value, any Error>) {
    self.results = results
  }

  /// Creates a query that follows the results of `body`.
  ///
  /// - Parameter body: As that of `SmartStore.observe(_:)`.
  public convenience init(
    _ store: SmartStore, _ body: @escaping @Sendable (borrowing StoreReader) throws -> Value
  ) where Value: Equatable {
    self.init { store.observe(body) }
  }

  /// Follows the query until the task is cancelled, the store is closed or the query fails. You may
  /// call it again after that. A call during another one returns at once.
  public func run() async {
    guard !isRunning else { return }
    isRunning = true
    error = nil
    defer { isRunning = false }
    do {
      for try await value in results() { self.value = value }
    } catch is CancellationError {
    } catch {
      self.error = error
    }
  }
}

extension LiveQuery where Value == [JSONValue] {
  /// Follows one page of a query's results.
  ///
  /// The parameters are those of `SmartStore.observe(_:startingFromPageIndex:whereArgs:)`.
  public convenience init(
    _ store: SmartStore, _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) {
    self.init {
      store.observe(querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs)
    }
  }
}

extension LiveQuery {
  /// Follows one page of a query's results, decoded as `type`.
  ///
  /// The parameters are those of `SmartStore.observe(_:startingFromPageIndex:whereArgs:as:dates:)`.
  public convenience init<Element: Decodable & Sendable>(
    _ store: SmartStore, _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil, as type: Element.Type, dates: JSONDates = .salesforce
  ) where Value == [Element] {
    self.init {
      store.observe(
        querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs, as: type, dates: dates)
    }
  }
}

/// Its properties belong to the isolation of the task that runs it.
@available(*, unavailable)
extension LiveQuery: Sendable {}
