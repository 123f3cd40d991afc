import EspalierInspection
import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// A cache with all its stored entries, and for each entry the reads that use it.
struct FlipImage {
    struct Item {
        let entry: StoredEntry
        /// The bytes of the value that belong to the item.
        let bytes: Range<Int>
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

    /// Returns the probe of a name.
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
        let dictionary = try inspection.anatomy(of: handle)?.dictionaryNumber ?? 0
        Self.add(probe, to: &byDictionary[dictionary, default: []])
    }

    private static func add(_ probe: Int, to list: inout [Int]) {
        if list.count < readsPerItem, !list.contains(probe) { list.append(probe) }
    }

    private mutating func collect(_ transaction: borrowing ReadTransaction, _ keyspaces: Keyspaces)
        throws
    {
        try each(keyspaces.index, transaction) { image, key, value in
            let list = try IndexGroup.reading(key, value) { group throws(FormatError) in
                try group.entries()
            }
            let names = image.names.filter { name, _ in
                list.entries.contains { list.compare($0, with: name) == .match }
            }
            return ("index", names.values.sorted())
        }
        try each(keyspaces.pins, transaction) { image, key, _ in
            ("pins", image.names[key].map { [$0] })
        }
        try collectContainers(transaction, keyspaces)
        try each(keyspaces.long, transaction) { image, key, value in
            let handle = Handle(Self.number(key))
            return (key.last == 0 ? "long, first chunk" : "long, chunk", image.byHandle[handle])
        }
        var flags: StateEntry.Flags = []
        try each(keyspaces.state, transaction) { image, key, value in
            let first = Handle(Self.number(key))
            let group = try ByteReader.reading(value) { try StateGroup(reading: &$0, key: first) }
            flags.formUnion(StateEntry.Flags(group.entries.map(\.state.flags)))
            return ("state", group.entries.flatMap { image.byHandle[$0.handle] ?? [] })
        }
        guard flags.isSuperset(of: [.lost, .tombstone]) else { throw Missing() }
        var listed: [Handle] = []
        try transaction.forEachRecencyEntry(keyspaces) { entry in
            listed.append(entry.handle)
            return true
        }
        try each(keyspaces.recency, transaction) { image, _, _ in
            ("recency", listed.flatMap { image.byHandle[$0] ?? [] })
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
            items[place, default: []].append(
                Item(entry: entry, bytes: 0..<value.count, probes: probes ?? []))
            return true
        }
    }

    /// Adds an item for each directory of a container, and for each frame.
    private mutating func collectContainers(
        _ transaction: borrowing ReadTransaction, _ keyspaces: Keyspaces
    ) throws {
        let stored = try StoredRecords(transaction.snapshot, cache.generation)
        try transaction.forEach(in: keyspaces.nodes) { key, value in
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            let value = try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
            let entry = StoredEntry(keyspace: keyspaces.nodes, key: key, value: value)
            var all: [Int] = []
            var start = value.count
            for frame in try stored.frames(of: value, key: Handle(Self.number(key))) {
                start = min(start, frame.range.lowerBound)
                let bytes = Array(value[frame.range])
                let block = try stored.decode(bytes, first: frame.first)
                let probes = block.handles.reversed().compactMap { byHandle[$0] }.flatMap(\.self)
                all += probes
                let form = try Self.form(bytes, block)
                let isRead = probes.contains { isHit[$0] }
                items[form + (isRead ? "" : ", read by no hit"), default: []].append(
                    Item(
                        entry: entry, bytes: frame.range,
                        probes: Array(probes.prefix(Self.readsPerItem))))
            }
            items["nodes, directory", default: []].append(
                Item(
                    entry: entry, bytes: 0..<start,
                    probes: Array(all.filter { isHit[$0] }.prefix(Self.readsPerItem))))
            return true
        }
    }

    private static func number(_ key: [UInt8]) -> UInt64 {
        key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func form(_ frame: [UInt8], _ block: RecordBlock) throws -> String {
        let hasOwnShape = try block.handles.indices.contains { index in
            var record = block.bytes(at: index)
            return try RecordLayout(reading: &record).hasOwnShape
        }
        let form =
            switch try ByteReader.reading(frame, { try $0.varint() }) {
            case 0: "raw"
            case FrameDecoder.noDictionary: "compressed"
            default: "with dictionary"
            }
        return "nodes, \(hasOwnShape ? "own shapes, " : "")\(form)"
    }
}
