import EspalierLMDB
import EspalierRecords
import EspalierTestSupport

@testable import EspalierStore

/// Flips one bit after the other, reads the trees that may contain it, and restores it.
struct FlipCampaign {
    private let image: FlipImage
    private var random: SeededGenerator
    /// Restores the last flip, in the same transaction as the next one.
    private var pending: (original: StoredEntry, changed: StoredEntry, covered: [UInt8]?)?
    private(set) var counts = FlipCounts()

    init(_ image: FlipImage, seed: UInt64) {
        self.image = image
        random = SeededGenerator(seed: seed)
    }

    /// Chooses keys as often as values, and each kind of entry as often as every other.
    mutating func run(flips: Int) throws {
        let places = image.places
        for number in 0..<flips {
            let place = places[number / 2 % places.count]
            guard let item = image.items[place]?.randomElement(using: &random) else { continue }
            let isKey = number % 2 == 0 || item.entry.value.isEmpty
            let bytes = isKey ? 0..<item.entry.key.count : item.bytes
            let bit = Int.random(
                in: bytes.lowerBound * 8..<bytes.upperBound * 8, using: &random)
            let changed =
                isKey ? item.entry.flipped(keyBit: bit) : item.entry.flipped(valueBit: bit)
            let verdict = try verdict(of: item, changed, at: place)
            counts.add(verdict, at: place + (isKey ? ": key" : ": value"))
        }
        try restore()
    }

    /// Returns the verdict of reads with `changed` in place of the item's entry.
    mutating func verdict(of item: FlipImage.Item, _ changed: StoredEntry, at place: String) throws
        -> Verdict
    {
        try apply(item.entry, changed)
        let hidesDamage = place.hasPrefix("shapes") || place.hasPrefix("dictionaries")
        var reads = item.probes
        reads.append(Int.random(in: 0..<image.probes.count, using: &random))
        var worst = Verdict.unharmed
        for index in reads {
            if hidesDamage { try image.forgetTables() }
            switch image.probes[index].verdict(image.cache) {
            case .unharmed: break
            case .miss(let reason): if worst == .unharmed { worst = .miss(reason) }
            case .wrong(let detail): return .wrong(detail)
            }
        }
        if worst == .unharmed, let stray = stray(item, changed, at: place) { return stray }
        return worst
    }

    /// Checks that an identifier that was never stored, and is like one that was, does not lead to
    /// another record.
    private mutating func stray(_ item: FlipImage.Item, _ changed: StoredEntry, at place: String)
        -> Verdict?
    {
        guard place == "index", let original = item.probes.randomElement(using: &random),
            var bytes = Optional(Array(image.probes[original].identifier.utf8)), !bytes.isEmpty
        else { return nil }
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1
        guard let name = String(validating: bytes, as: UTF8.self),
            image.probe(named: IndexKey.bytes(image.probes[original].nameSpace, name)) == nil,
            case .hit(let value) = image.probes[original].read(image.cache, as: name)
        else { return nil }
        return .wrong("\(name) is \(value)")
    }

    private mutating func apply(_ original: StoredEntry, _ changed: StoredEntry) throws {
        let generation = try image.cache.generation
        let last = pending
        pending = nil
        let covered = try generation.environment.write { transaction in
            if let last {
                try last.original.restore(
                    from: last.changed, covered: last.covered, in: &transaction)
            }
            return try original.replace(with: changed, in: &transaction)
        }
        pending = (original, changed, covered)
        generation.blocks.removeAll()
    }

    mutating func restore() throws {
        guard let last = pending else { return }
        pending = nil
        try image.cache.generation.environment.write {
            try last.original.restore(from: last.changed, covered: last.covered, in: &$0)
        }
        try image.forgetTables()
        try image.cache.generation.blocks.removeAll()
    }
}
