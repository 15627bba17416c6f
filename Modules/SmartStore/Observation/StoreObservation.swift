import GRDB

/// The results of one question, now and after each commit that changed them.
///
/// The reader's pace is the pace of the reads: a result is read from a snapshot of its own when the
/// reader requests it, so that commits which arrive in between cost one read together, and nothing
/// waits in a buffer to grow old.
struct StoreObservation<Snapshot: Equatable & Sendable, Element: Sendable>: AsyncSequence, Sendable
{
  typealias Failure = any Error

  let store: SmartStore
  /// Reads what is compared with the time before.
  let snapshot: @Sendable (borrowing StoreReader) throws -> Snapshot
  /// Makes of it what the reader gets.
  let element: @Sendable (Snapshot) throws -> Element

  func makeAsyncIterator() -> Iterator {
    Iterator(observation: self, subscription: store.changes.subscribe())
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
          // Both are ways to end an observation, not failures of it.
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
