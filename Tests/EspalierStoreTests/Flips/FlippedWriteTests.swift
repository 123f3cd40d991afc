import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Writes, deletes and evictions succeed after a flipped bit")
struct FlippedWriteTests {
    private static let flips =
        ProcessInfo.processInfo.environment["ESPALIER_FLIPS"].flatMap { Int($0) } ?? 20_000

    /// A cache to damage, beside an undamaged one with the same content.
    private struct Pair {
        let pristine: NormalizedCache
        let image: FlipImage
        let source: Scratch

        func copy() throws -> Scratch {
            let scratch = try Scratch()
            try FileManager.default.copyItem(atPath: source.directory, toPath: scratch.directory)
            return scratch
        }
    }

    private func withPair(_ body: (Pair) throws -> Void) throws {
        let source = try Scratch()
        let contents = try FlipContents(writtenTo: source, scale: 6)
        let opened = try Scratch()
        try FileManager.default.copyItem(atPath: source.directory, toPath: opened.directory)
        let pristine = try opened.open(FlipContents.configuration)
        defer { pristine.close() }
        let image = try FlipImage(pristine, probes: contents.probes)
        try body(Pair(pristine: pristine, image: image, source: source))
    }

    @Test(
        """
        After a flip in any keyspace the cache keeps working, collecting cycles repairs named \
        records, and the next write repairs the rest
        """
    )
    func commits() throws {
        try withPair { pair in
            var random = SeededGenerator(seed: 77)
            let places = pair.image.items.keys.sorted()
            for number in 0..<max(Self.flips / 400, 2 * places.count) {
                let place = places[number / 2 % places.count]
                guard let item = pair.image.items[place]?.randomElement(using: &random) else {
                    continue
                }
                let isKey = number % 2 == 0 || item.entry.value.isEmpty
                let bytes = isKey ? 0..<item.entry.key.count : item.bytes
                let bit = Int.random(
                    in: bytes.lowerBound * 8..<bytes.upperBound * 8, using: &random)
                let changed =
                    isKey ? item.entry.flipped(keyBit: bit) : item.entry.flipped(valueBit: bit)
                let scratch = try pair.copy()
                // Collecting cycles keeps records that no read uses and no index entry names, and
                // those that may be a later version's.
                let isRepaired =
                    ["index", "info", "state"].contains { place.hasPrefix($0) }
                    || place.hasPrefix("nodes") && !isKey && bit >= 8
                try check(
                    pair, scratch, item, changed, isRepaired: isRepaired,
                    "flip \(number), bit \(bit) of the \(isKey ? "key" : "value"), \(place)",
                    &random)
            }
        }
    }

    private func check(
        _ pair: Pair, _ scratch: Scratch, _ item: FlipImage.Item, _ changed: StoredEntry,
        isRepaired: Bool,
        _ what: String, _ random: inout SeededGenerator
    ) throws {
        var cache = try scratch.open(FlipContents.configuration)
        // Before the flip, so that shapes and dictionaries in memory hide it at first.
        if Bool.random(using: &random) { try cache.set(Person("warm", "up")).wait() }
        try cache.tamper { transaction, _ in
            let keyspace = try cache.generation.environment.keyspace(item.entry.keyspace.name)
            let here = StoredEntry(keyspace: keyspace, key: item.entry.key, value: item.entry.value)
            // A commit after the image was taken may have joined containers.
            guard try transaction.value(keyspace, here.key) == here.value else { return }
            _ = try here.replace(
                with: StoredEntry(keyspace: keyspace, key: changed.key, value: changed.value),
                in: &transaction)
        }
        let isReopened = Bool.random(using: &random)
        if isReopened {
            cache.close()
            do {
                cache = try scratch.open(FlipContents.configuration)
            } catch let error as CacheError {
                #expect(error.code == .newerFormat, "\(what): \(error)")
                return
            }
        }
        defer { cache.close() }
        var probes = item.probes.map { pair.image.probes[$0] }
        probes += (0..<3).compactMap { _ in pair.image.probes.randomElement(using: &random) }
        expectNoneWrong(probes, cache, what)
        for probe in probes { probe.use(cache) }
        try write(cache, &random, what)
        expectNoneWrong(pair.image.probes, cache, what)
        #expect(code(cache.collectCycles()) == nil, "\(what)")
        if isRepaired {
            let problems = try cache.verify().problems
            #expect(problems.isEmpty, "\(what): \(problems.prefix(3))")
        }
        for probe in probes {
            guard let ticket = probe.copy(pair.pristine, cache) else { continue }
            #expect(code(ticket) == nil, "\(what)")
            let verdict = probe.verdict(cache, .latest)
            #expect(verdict == .unharmed, "\(what): \(probe.identifier) is \(verdict)")
        }
    }

    private func expectNoneWrong(_ probes: [Probe], _ cache: NormalizedCache, _ what: String) {
        for probe in probes {
            if case .wrong(let detail) = probe.verdict(cache, .latest) {
                Issue.record("\(what): \(detail)")
            }
        }
    }

    /// Uses identifiers of its own, so that the existing records stay as they are.
    private func write(_ cache: NormalizedCache, _ random: inout SeededGenerator, _ what: String)
        throws
    {
        let ada = Person("new:1", "Ada, who came later")
        let tickets = [
            cache.set(Message("new:m", from: ada, to: Person("new:2", "Ben"))),
            cache.set(Message("new:n", from: ada)),
            cache.setCollection([ada], forKey: "new"),
            cache.delete("new:m"),
            cache.pin("new:1"),
            cache.unpin("new:1"),
            cache.evictCollection(forKey: "new"),
        ]
        for (index, ticket) in tickets.enumerated() {
            #expect(code(ticket) == nil, "\(what): write \(index)")
        }
        #expect(cache.read(Message.self, "new:n") == Message("new:n", from: ada), "\(what)")
    }
}
