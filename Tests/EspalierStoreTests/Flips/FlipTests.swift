import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Reads after a flipped bit")
struct FlipTests {
    /// `ESPALIER_FLIPS=1000000 swift test -c release -Xswiftc -enable-testing --filter FlipTests`
    /// for a long run.
    private static let flips =
        ProcessInfo.processInfo.environment["ESPALIER_FLIPS"].flatMap { Int($0) } ?? 20_000

    private func withImage(_ body: (FlipImage) throws -> Void) throws {
        let scratch = try Scratch()
        let contents = try FlipContents(writtenTo: scratch)
        let cache = try scratch.open(FlipContents.configuration)
        defer { cache.close() }
        try expectClean(cache)
        let image = try FlipImage(cache, probes: contents.probes)
        try body(image)
        // Every bit is restored.
        try expectClean(cache)
        for probe in image.probes { #expect(probe.verdict(cache, .latest) == .unharmed) }
    }

    @Test("Flipping bits of keys and values in every keyspace gives misses or the same models")
    func everyKeyspace() throws {
        try withImage { image in
            for form in [
                "node, raw", "node, frame", "node, frame with dictionary",
                "own shape, frame with dictionary",
            ] {
                #expect(image.items["nodes, \(form)"]?.isEmpty == false, "\(form)")
            }
            for place in [
                "index", "index (long)", "index (twins)", "pins", "nodes, first chunk",
                "nodes, chunk",
                "nodes, key, raw",
                "nodes, collection, raw", "recency", "state", "state (lost), read by no hit",
                "state (tombstone)",
                "shapes",
                "dictionaries",
            ] {
                #expect(image.items[place]?.isEmpty == false, "\(place)")
            }
            var campaign = FlipCampaign(image, seed: 2_401)
            try campaign.run(flips: Self.flips)
            print(campaign.counts.report)
            #expect(campaign.counts.total == Self.flips)
            #expect(campaign.counts.wrong.prefix(10) == [])
            for place in image.places where place.hasPrefix("nodes") || place.hasPrefix("index") {
                guard !place.hasSuffix("read by no hit") else { continue }
                #expect(campaign.counts.unharmed(at: place + ": key") == 0, "\(place)")
                if !place.contains("frame") {
                    #expect(campaign.counts.unharmed(at: place + ": value") == 0, "\(place)")
                }
            }
        }
    }

    @Test("A flipped bit under a matching check is detected as wrong")
    func canary() throws {
        try withImage { image in
            var campaign = FlipCampaign(image, seed: 1)
            let items = (image.items["nodes, node, raw"] ?? []).filter { item in
                item.probes.contains { image.probes[$0].identifier.hasPrefix("s:") }
            }
            var wrong = 0
            for item in items.prefix(5) {
                let handle = Handle(item.entry.key.reduce(0) { $0 << 8 | UInt64($1) })
                let number = try image.cache.record(handle)?.shapeNumber ?? 0
                let stored = try image.cache.readStorage { try $0.storedShape($1, number) }
                let shape = try #require(stored?.shape)
                var writer = ByteWriter()
                writer.append(item.entry.value.dropLast(RecordLayout.checkSize + 1))
                // The last byte of the name.
                writer.append(
                    item.entry.value[item.entry.value.count - RecordLayout.checkSize - 1] ^ 2)
                let check = writer.check(
                    seed: RecordLayout.seed(handle: handle, shape: shape.fingerprint))
                writer.append(integer: check)
                let verdict = try campaign.verdict(
                    of: item, item.entry.with(value: writer.bytes), at: "nodes")
                if case .wrong = verdict { wrong += 1 }
            }
            try campaign.restore()
            #expect(wrong == min(5, items.count) && wrong > 0)
        }
    }

    @Test("A read that returns another model than expected is detected")
    func verdicts() {
        let name = "p:1"
        #expect(Verdict(.hit("Ada"), expected: .hit("Ada"), of: name) == .unharmed)
        #expect(Verdict(.miss("damaged"), expected: .hit("Ada"), of: name) == .miss("damaged"))
        #expect(Verdict(.miss("damaged"), expected: .miss("lost"), of: name) == .unharmed)
        for (seen, expected) in [
            (Seen.hit("Ben"), Seen.hit("Ada")), (.hit("Ben"), .miss("notFound")),
        ] {
            guard case .wrong = Verdict(seen, expected: expected, of: name) else {
                Issue.record("\(seen) passed for \(expected)")
                continue
            }
        }
    }
}
