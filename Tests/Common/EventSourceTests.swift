import Testing

@testable import SalesforceSDKCommon
import TestSupport

/// Who receives an event?
struct EventSourceTests {
  @Test(.covers("CO-8.2"))
  func `a subscription ends when its reader is cancelled or drops it, others go on`()
    async
  {
    let source = EventSource<Int>()
    let other = source.stream()
    let reader = Task { [stream = source.stream()] in for await _ in stream {} }
    #expect(source.subscriberCount == 2)
    reader.cancel()
    await reader.value
    #expect(source.subscriberCount == 1)
    do {
      var dropped = source.stream().makeAsyncIterator()
      source.send(1)
      #expect(await dropped.next() == 1)
      #expect(source.subscriberCount == 2)
    }
    #expect(source.subscriberCount == 1)
    source.send(2)
    source.finish()
    #expect(source.subscriberCount == 0)
    var received: [Int] = []
    for await event in other { received.append(event) }
    #expect(received == [1, 2])
    // A subscription after the end has no events, and ends.
    for await event in source.stream() { Issue.record("\(event)") }
  }
}
