import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("A broadcast reaches all subscribers and waits for none")
struct BroadcastTests {
    private func dropped(_ number: Int) -> CacheEvent { .writeDropped(reason: "\(number)") }

    @Test("Every subscriber gets every event sent after it subscribed, in order")
    func everyone() async {
        let events = Broadcast<CacheEvent>(buffering: .bufferingNewest(4_096))
        let first = events.subscribe()
        events.send(dropped(1))
        let second = events.subscribe()
        events.send(dropped(2))
        events.send(.generationReplaced(reason: "damaged"))
        events.finish()
        var seen: [CacheEvent] = []
        for await event in first { seen.append(event) }
        #expect(seen == [dropped(1), dropped(2), .generationReplaced(reason: "damaged")])
        seen = []
        for await event in second { seen.append(event) }
        #expect(seen == [dropped(2), .generationReplaced(reason: "damaged")])
    }

    @Test("An event without subscribers is never created")
    func free() {
        let events = Broadcast<CacheEvent>(buffering: .bufferingNewest(4_096))
        var made = 0
        func event() -> CacheEvent {
            made += 1
            return dropped(made)
        }
        events.send(event())
        #expect(made == 0)
        #expect(!events.hasSubscribers)
        let stream = events.subscribe()
        #expect(events.hasSubscribers)
        events.send(event())
        #expect(made == 1)
        withExtendedLifetime(stream) {}
    }

    @Test("A subscriber that does not keep up loses the oldest events")
    func bounded() async {
        let events = Broadcast<CacheEvent>(buffering: .bufferingNewest(3))
        let stream = events.subscribe()
        for number in 1...10 { events.send(dropped(number)) }
        events.finish()
        var seen: [CacheEvent] = []
        for await event in stream { seen.append(event) }
        #expect(seen == [dropped(8), dropped(9), dropped(10)])
    }

    @Test("A broadcast forgets subscribers that end, and a subscription after the end is empty")
    func ending() async {
        let events = Broadcast<CacheEvent>(buffering: .bufferingNewest(4_096))
        let task = Task {
            var iterator = events.subscribe().makeAsyncIterator()
            return await iterator.next()
        }
        while !events.hasSubscribers { await Task.yield() }
        task.cancel()
        #expect(await task.value == nil)
        #expect(!events.hasSubscribers)
        do { _ = events.subscribe() }
        #expect(!events.hasSubscribers)
        events.finish()
        events.send(dropped(1))
        for await event in events.subscribe() { Issue.record("\(event) came after the end") }
        #expect(!events.hasSubscribers)
    }

    @Test("Events can be encoded and decoded")
    func coding() throws {
        let eviction = Eviction(
            identifier: "Message:34", nameSpace: .collection, reason: .shrink, records: 3,
            bytes: ByteCount(400),
            age: .seconds(90))
        for event in [CacheEvent.evicted(eviction), dropped(1), .generationReplaced(reason: "x")] {
            let data = try JSONEncoder().encode(event)
            #expect(try JSONDecoder().decode(CacheEvent.self, from: data) == event)
        }
    }
}
