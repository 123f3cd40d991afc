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
            for place in [
                "index", "pins", "nodes, raw", "nodes, compressed", "nodes, with dictionary",
                "nodes, own shapes, with dictionary", "nodes, directory", "long, first chunk",
                "long, chunk", "recency", "state", "shapes", "dictionaries",
            ] {
                #expect(image.items[place]?.isEmpty == false, "\(place)")
            }
            var campaign = FlipCampaign(image, seed: 2_401)
            try campaign.run(flips: Self.flips)
            print(campaign.counts.report)
            #expect(campaign.counts.total == Self.flips)
            #expect(campaign.counts.wrong.prefix(10) == [])
            for place in image.places where place.hasPrefix("nodes") {
                guard !place.hasSuffix("read by no hit") else { continue }
                #expect(campaign.counts.unharmed(at: place + ": key") == 0, "\(place)")
                if place.hasPrefix("nodes, raw") || place.hasPrefix("nodes, dir") {
                    #expect(campaign.counts.unharmed(at: place + ": value") == 0, "\(place)")
                }
            }
        }
    }

    @Test("A flipped bit under a matching check is detected as wrong")
    func canary() throws {
        try withImage { image in
            var campaign = FlipCampaign(image, seed: 1)
            let items = (image.items["nodes, raw"] ?? []).filter { item in
                item.probes.contains { image.probes[$0].identifier.hasPrefix("s:") }
            }
            var wrong = 0
            for item in items.prefix(5) {
                // The last byte of the last record is that of a name. The check is made to match.
                var value = item.entry.value
                let end = item.bytes.upperBound - RecordLayout.checkSize
                let key = Handle(item.entry.key.reduce(0) { $0 << 8 | UInt64($1) })
                let first = try ByteReader.reading(value) { value in
                    try Container(reading: value, key: key).entries
                        .first { $0.range == item.bytes }?.first
                }
                value[end - 1] ^= 2
                var writer = ByteWriter()
                writer.append(value[item.bytes.lowerBound + 1..<end])
                var check = ByteWriter()
                let seed = RecordLayout.seed(handle: try present(first))
                check.append(integer: writer.check(seed: seed))
                value.replaceSubrange(end..<item.bytes.upperBound, with: check.bytes)
                let verdict = try campaign.verdict(
                    of: item, item.entry.with(value: value), at: "nodes")
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
