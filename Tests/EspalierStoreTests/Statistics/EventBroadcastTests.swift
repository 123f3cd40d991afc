import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Events reach whoever listens, and keep nobody waiting")
struct EventBroadcastTests {
    private func dropped(_ number: Int) -> CacheEvent { .writeDropped(reason: "\(number)") }

    @Test("every subscriber gets every event from then on, in order")
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

    @Test("an event that nobody listens to is not even made")
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

    @Test("whoever does not keep up loses the oldest")
    func bounded() async {
        let events = Broadcast<CacheEvent>(buffering: .bufferingNewest(3))
        let stream = events.subscribe()
        for number in 1...10 { events.send(dropped(number)) }
        events.finish()
        var seen: [CacheEvent] = []
        for await event in stream { seen.append(event) }
        #expect(seen == [dropped(8), dropped(9), dropped(10)])
    }

    @Test("a subscriber that goes is forgotten, and a stream asked for after the end is at its end")
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

    @Test("events are coded and read back")
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
