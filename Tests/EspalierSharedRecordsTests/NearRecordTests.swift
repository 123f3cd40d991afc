import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierSharedRecords
import EspalierStore
import EspalierTestSupport
import Foundation
import Testing

/// A place with the place that it is part of.
private struct Place: Codable, NormalizedModel, Equatable {
    var id: String
    var name: String
    var parts: [Place] = []
    var modelIdentifier: String? { "Place:\(id)" }
}

@Suite("Copies of shared records")
struct NearRecordTests {
    private func isFresh(_ cache: NormalizedCache, _ number: Int) -> Bool {
        let outcome: ReadOutcome<Place> = cache.readOutcome(Place.self, "Place:\(number)")
        return outcome.value != nil
    }

    private func places(_ numbers: Range<Int>) -> [Place] {
        numbers.map { Place(id: "\($0)", name: "Place \($0)") }
    }

    @Test("All copies that satisfy a condition become outdated, however many there are")
    func outdateAll() throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        let count = 10_000
        try cache.set(places(0..<count)).wait()
        try cache.setCollection(places(0..<3), forKey: "odd").wait()
        try cache.setCollection(places(0..<3), forKey: "even").wait()
        try cache.setModel(Place(id: "9", name: "Place 9"), forKey: "Place:9 odd").wait()
        // Names that differ only after many bytes.
        let long = String(repeating: "x", count: 600)
        let longPlaces = (0..<40).map { Place(id: "\(long)\($0)", name: "") }
        try cache.set(longPlaces).wait()
        var met: [SharedName: Int] = [:]
        try cache.outdateShared { name in
            met[name, default: 0] += 1
            if name.identifier.hasSuffix("odd") { return true }
            return name.kind == .node && Int(name.identifier.suffix(1)).map { $0 % 2 == 1 } ?? false
        }
        #expect(met.count == count + 3 + 40)
        #expect(met.values.allSatisfy { $0 == 1 }, "each name is met once")
        for number in 0..<count {
            guard isFresh(cache, number) == (number % 2 == 0) else {
                Issue.record("\(number)")
                return
            }
        }
        for place in longPlaces.enumerated() {
            let outcome: ReadOutcome<Place> = cache.readOutcome(
                Place.self, place.element.modelIdentifier ?? "")
            #expect((outcome.value != nil) == (place.offset % 2 == 0))
        }
        #expect(
            cache.expiredShared(in: Place.self, SharedName(.collection, "odd"))?.isEmpty == false)
        let stale: ReadOutcome<Place> = cache.readOutcome(
            Place.self, "Place:1", accepting: .stale)
        #expect(stale.value == places(1..<2)[0], "it stays for reads that accept it")
        #expect(try cache.verify(deep: true).problems.isEmpty)
    }

    @Test("A read with names tells all nodes of the tree, and uses no tree in memory")
    func named() throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        var root = Place(id: "1", name: "city")
        root.parts = places(2..<5)
        root.parts[0].parts = places(7..<9)
        try cache.set(root).wait()
        try cache.setCollection([root], forKey: "all").wait()
        try cache.setModel(root, forKey: "home").wait()
        let nodes = Set([1, 2, 3, 4, 7, 8].map { SharedName(.node, "Place:\($0)") })
        for _ in 0..<2 {
            let read: Place? = cache.read(Place.self, "Place:1")
            #expect(read == root)
            let outcome = cache.namedShared(
                Place.self, SharedName(.node, "Place:1"), accepting: .fresh)
            #expect(outcome.value?.value == root)
            #expect(Set(outcome.value?.names ?? []) == nodes)
        }
        let key = cache.namedShared(Place.self, SharedName(.key, "home"), accepting: .fresh)
        #expect(key.value?.value == root)
        #expect(
            Set(key.value?.names ?? [])
                == nodes.union([SharedName(.key, "home"), SharedName(.node, "home")]))
        let list = cache.namedShared(collection: "all", of: Place.self, accepting: .fresh)
        #expect(list.value?.value == [root])
        let names = Set(list.value?.names ?? [])
        #expect(names.isSuperset(of: nodes))
        #expect(names.contains(SharedName(.collection, "all")))
        let form = SharedJSON(depth: .max, leavingOut: [], includesNulls: false)
        let json = cache.namedSharedJSON(
            of: SharedName(.node, "Place:1"), form, accepting: .fresh)
        #expect(Set(json.value?.names ?? []) == nodes)
        #expect(json.value?.value == cache.json(of: "Place:1"))
        let miss = cache.namedShared(Place.self, SharedName(.node, "Place:99"), accepting: .fresh)
        #expect(miss.reason == .notFound)
    }
}
