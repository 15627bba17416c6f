import GRDB

/// The results of one query, at first and after each commit that changed them.
///
/// A result is read from a new snapshot only when the reader requests it. So several commits
/// between two requests cost one read, and no result becomes outdated in a buffer.
struct StoreObservation<Snapshot: Equatable & Sendable, Element: Sendable>: AsyncSequence, Sendable
{
  typealias Failure = any Error

  let store: SmartStore
  /// Reads the value that is compared with the previous one.
  let snapshot: @Sendable (borrowing StoreReader) throws -> Snapshot
  /// Converts it to the reader's element.
  let element: @Sendable (Snapshot) throws -> Element

  func makeAsyncIterator() -> Iterator {
    let subscription = store.changes.subscribe()
    store.otherWriters.look(in: store)
    return Iterator(observation: self, subscription: subscription)
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let observation: StoreObservation
    fileprivate let subscription: ChangeSubscription
    fileprivate var last: Snapshot?

    private struct Read: Sendable {
      let region: DatabaseRegion
      let changed: (snapshot: Snapshot, element: Element)?
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      while await subscription.beginRead() {
        do {
          let read = try await self.read()
          subscription.didRead(read.region)
          if let (snapshot, element) = read.changed {
            last = snapshot
            return element
          }
        } catch {
          subscription.end()
          // Both end an observation without an error.
          if error is CancellationError || observation.store.isClosed { return nil }
          throw error
        }
      }
      return nil
    }

    private func read() async throws -> Read {
      let (observation, last) = (observation, last)
      return try await observation.store.read { reader in
        reader.access.recordRegion()
        let snapshot = try observation.snapshot(reader)
        let changed = try snapshot == last ? nil : (snapshot, observation.element(snapshot))
        return Read(region: reader.access.region, changed: changed)
      }
    }
  }
}
