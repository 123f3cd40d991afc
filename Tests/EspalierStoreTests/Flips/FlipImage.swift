import EspalierInspection
import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// A cache with all its stored entries, and for each entry the reads that use it.
struct FlipImage {
    struct Item {
        let entry: StoredEntry
        /// The indexes of these reads in `probes`.
        let probes: [Int]
    }

    /// The most reads for each entry: those of the smallest trees.
    private static let readsPerItem = 2

    let cache: NormalizedCache
    private(set) var probes: [Probe]
    /// The entries by their kind.
    private(set) var items: [String: [Item]] = [:]
    /// Leaves out reads that miss without damage.
    private let isHit: [Bool]
    private var names: [[UInt8]: Int] = [:]
    private var byHandle: [Handle: [Int]] = [:]
    private var byShape: [UInt64: [Int]] = [:]
    private var byDictionary: [UInt64: [Int]] = [:]

    init(_ cache: NormalizedCache, probes: [Probe]) throws {
        self.cache = cache
        self.probes = probes
        for index in probes.indices { self.probes[index].expected = probes[index].read(cache) }
        isHit = self.probes.map { if case .hit = $0.expected { true } else { false } }
        try cache.inspect { inspection in
            var reaches: [(probe: Int, reach: [Handle])] = []
            for (index, probe) in probes.enumerated() {
                names[IndexKey.bytes(probe.nameSpace, probe.identifier)] = index
                guard let handle = try inspection.handle(of: probe.identifier, in: probe.nameSpace)
                else { continue }
                reaches.append((index, try Self.reach(of: handle, inspection)))
            }
            for (probe, reach) in reaches.sorted(by: {
                (isHit[$0.probe] ? 0 : 1, $0.reach.count) < (
                    isHit[$1.probe] ? 0 : 1, $1.reach.count
                )
            }) {
                for handle in reach { try note(handle, probe, inspection) }
            }
        }
        try cache.readStorage { try collect($0, $1) }
    }

    /// The entries that reads use, without those that only opening uses.
    var places: [String] { items.keys.filter { !$0.hasPrefix("info") }.sorted() }

    /// Returns the probe of the entry under a key of the index.
    func probe(named key: [UInt8]) -> Int? { names[key] }

    /// Clears the shapes and dictionaries in memory, which would hide the stored ones.
    func forgetTables() throws {
        let generation = try cache.generation
        for number in generation.shapes.all.indices { generation.shapes.remove(UInt64(number)) }
        for number in generation.dictionaries.all.indices {
            generation.dictionaries.remove(UInt64(number))
        }
    }

    private static func reach(of handle: Handle, _ inspection: Inspection) throws -> [Handle] {
        var reach: [Handle] = []
        var open = [handle]
        var seen: Set<Handle> = []
        while let handle = open.popLast() {
            guard seen.insert(handle).inserted else { continue }
            reach.append(handle)
            if case .record(let record) = try inspection.record(handle) { open += record.children }
        }
        return reach
    }

    private mutating func note(_ handle: Handle, _ probe: Int, _ inspection: Inspection) throws {
        Self.add(probe, to: &byHandle[handle, default: []])
        guard case .record(let record) = try inspection.record(handle) else { return }
        Self.add(probe, to: &byShape[record.shapeNumber, default: []])
        Self.add(probe, to: &byDictionary[record.dictionaryNumber, default: []])
    }

    private static func add(_ probe: Int, to list: inout [Int]) {
        if list.count < readsPerItem, !list.contains(probe) { list.append(probe) }
    }

    private mutating func collect(_ transaction: borrowing ReadTransaction, _ keyspaces: Keyspaces)
        throws
    {
        try each(keyspaces.index, transaction) { image, key, _ in
            let isTwin = String(decoding: key.dropFirst(), as: UTF8.self) == "twin"
            let kind = isTwin ? " (twins)" : key[0] == IndexKey.longMark ? " (long)" : ""
            return ("index" + kind, image.names[key].map { [$0] })
        }
        try each(keyspaces.pins, transaction) { image, key, _ in
            ("pins", image.names[key].map { [$0] })
        }
        try each(keyspaces.nodes, transaction) { image, key, value in
            (try Self.form(of: key, value), image.byHandle[Handle(Self.number(key))])
        }
        try each(keyspaces.state, transaction) { image, key, value in
            let handle = Handle(Self.number(key))
            let flags = try ByteReader.reading(value) {
                try StateEntry(reading: &$0, for: handle).flags
            }
            let kind =
                flags.contains(.lost) ? " (lost)" : flags.contains(.tombstone) ? " (tombstone)" : ""
            return ("state" + kind, image.byHandle[handle])
        }
        try each(keyspaces.recency, transaction) { image, key, _ in
            ("recency", image.byHandle[Handle(Self.number(Array(key.dropFirst(8))))])
        }
        try each(keyspaces.shapes, transaction) { image, key, _ in
            ("shapes", image.byShape[Self.number(key)])
        }
        try each(keyspaces.dictionaries, transaction) { image, key, _ in
            ("dictionaries", image.byDictionary[Self.number(key)])
        }
        try each(keyspaces.info, transaction) { _, key, _ in
            ("info, " + String(decoding: key, as: UTF8.self), nil)
        }
    }

    private mutating func each(
        _ keyspace: Keyspace, _ transaction: borrowing ReadTransaction,
        _ classify: (FlipImage, _ key: [UInt8], _ value: [UInt8]) throws -> (
            place: String, probes: [Int]?
        )
    ) throws {
        try transaction.forEach(in: keyspace) { key, value in
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            let value = try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
            let (form, probes) = try classify(self, key, value)
            let entry = StoredEntry(keyspace: keyspace, key: key, value: value)
            let place = form + (probes?.contains { isHit[$0] } == true ? "" : ", read by no hit")
            items[place, default: []].append(Item(entry: entry, probes: probes ?? []))
            return true
        }
    }

    private static func number(_ key: [UInt8]) -> UInt64 {
        key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func form(of key: [UInt8], _ value: [UInt8]) throws -> String {
        guard key.count == 8 else { return "nodes, chunk" }
        return try ByteReader.reading(value) { reader in
            if try Chunks.count(&reader) != nil { return "nodes, first chunk" }
            reader.position = 0
            let layout = try RecordLayout(reading: &reader)
            let form =
                switch layout.dictionaryNumber {
                case 0: "raw"
                case RecordLayout.noDictionary: "frame"
                default: "frame with dictionary"
                }
            return "nodes, \(layout.hasOwnShape ? "own shape" : "\(layout.nameSpace)"), \(form)"
        }
    }
}
