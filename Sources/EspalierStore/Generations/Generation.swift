package import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// One open generation of a cache: its environment, its keyspaces, and its shapes and dictionaries
/// in memory.
///
/// Handles, stamps and the numbers of shapes and dictionaries belong to one generation. A switch
/// creates a new object; running reads retain the old one until they end.
package final class Generation: Sendable {
    static let formatVersion: UInt32 = 3

    // immutable
    package let name: String
    /// The value of the guard's counter when the generation was opened.
    package let number: UInt64
    package let environment: Environment
    package let keyspaces: Keyspaces
    package let budget: ByteCount
    /// The format of the file, for statistics: `formatVersion`, because no other is opened.
    package let format: UInt32
    /// How the file is encrypted; nil if it is not.
    let encryption: GenerationEncryption?
    /// What a copy of a generation has in common with it, and an empty generation has not: a random
    /// number, or the name of a generation that an older version has made.
    let lineage: [UInt8]
    /// The lineage as a text. What is noted of handles under it holds for a copy, too.
    let lineageName: String
    let shapes: NumberedTable<Shape>
    let dictionaries: NumberedTable<RecordDictionary>
    /// The blocks that reads have decompressed.
    package let blocks: BlockCache

    // atomic
    /// The last transaction that was asked for `ExpiryMark`, shifted by one bit, and the answer.
    let untypedAges = Atomic<UInt64>(0)
    private let detached = Atomic<Bool>(false)
    private let damage = Atomic<UInt64>(0)

    private init(
        name: String, number: UInt64, environment: Environment, _ heading: Heading,
        blocks: ByteCount
    ) {
        self.name = name
        self.number = number
        self.environment = environment
        budget = heading.budget
        format = heading.format
        encryption = heading.encryption
        lineage = heading.lineage ?? Array(name.utf8)
        lineageName = heading.lineage.map(Self.text) ?? name
        keyspaces = Keyspaces(environment)
        shapes = NumberedTable(capacity: 1 << 14)
        dictionaries = NumberedTable(capacity: 1 << 12)
        self.blocks = BlockCache(budget: blocks)
    }

    /// Creates an object for the same open generation with a new number and another budget.
    init(_ other: Generation, number: UInt64, budget: ByteCount) {
        name = other.name
        self.number = number
        environment = other.environment
        self.budget = budget
        format = other.format
        encryption = other.encryption
        lineage = other.lineage
        lineageName = other.lineageName
        keyspaces = other.keyspaces
        shapes = other.shapes
        dictionaries = other.dictionaries
        blocks = other.blocks
        if other.hasDetached { noteDetached() }
    }

    /// Whether eviction has detached records on large cycles from their children. If so, a read
    /// touches the records on cycles whose references it follows.
    var hasDetached: Bool { detached.load(ordering: .relaxed) }

    func noteDetached() { detached.store(true, ordering: .relaxed) }

    /// How many reads of this process have met damage.
    var damageCount: UInt64 { damage.load(ordering: .acquiring) }

    func noteDamage() { damage.add(1, ordering: .acquiringAndReleasing) }

    /// The bytes of everything beside `data.mdb`: lock.mdb with 510 readers, `guard`, `current` and
    /// its copy during a switch, and the two directories themselves.
    package static let sideFiles = 32_768 + GuardFile.byteCount + 2 * 64 + 2 * 4_096

    /// Returns the size of the map that leaves room for the side files.
    static func mapSize(for budget: ByteCount) -> Int {
        let page = 4_096
        return max((budget.bytes - sideFiles) / page, 64) * page
    }

    /// Opens the generation `name`.
    ///
    /// - Parameters:
    ///   - budget: The budget of a new generation. An existing one has its own.
    ///   - limit: The budget that `guard` has; nil if it has none. A higher one in the file is
    ///     damaged, because nothing checks it, or was set by a process that died before it said so.
    static func open(
        _ name: String, in directory: CacheDirectory, budget: ByteCount, limit: ByteCount?,
        _ configuration: Configuration, under lock: borrowing GuardLock, number: UInt64
    ) throws -> Generation {
        let path = directory.generationPath(name)
        var budget = budget
        while true {
            let options = Environment.Options(
                mapSize: mapSize(for: budget), durability: configuration.durability.environment,
                isReadOnly: configuration.isReadOnly, lockDeadline: configuration.writeDeadline)
            let environment = try Environment.open(
                directory: path, under: lock, keyspaces: Keyspaces.names, options: options)
            var heading = try openHeading(environment, ifNew: budget, configuration.encryption)
            if let limit, heading.budget > limit {
                if !configuration.isReadOnly { try? store(limit, in: environment) }
                heading.budget = limit
            }
            if heading.budget == budget {
                let generation = Generation(
                    name: name, number: number, environment: environment, heading,
                    blocks: configuration.blockCache)
                let counters = try? environment.read { try $0.counters(generation.keyspaces) }
                if let counters, counters.detachments > 0 { generation.noteDetached() }
                return generation
            }
            environment.close()
            budget = heading.budget
        }
    }

    private static let formatKey = GenerationEncryption.formatKey
    private static let budgetKey = GenerationEncryption.budgetKey
    private static let lineageKey = [UInt8]("lineage".utf8)

    /// What the keyspace `info` says about the generation itself.
    private struct Heading {
        var budget: ByteCount
        let format: UInt32
        let encryption: GenerationEncryption?
        let lineage: [UInt8]?
    }

    /// Reads the heading of a generation, and begins to decrypt its values. Gives a new generation
    /// `budget`, the format that this library writes, and the newest key.
    private static func openHeading(
        _ environment: Environment, ifNew budget: ByteCount, _ encryption: Encryption?
    ) throws -> Heading {
        do {
            let info = environment.keyspace("info")
            let (format, header) = try environment.read { transaction in
                (
                    try transaction.value(info, formatKey).map { try integer($0, UInt32.self) },
                    try transaction.value(info, GenerationEncryption.headerKey)
                )
            }
            if let stored = format {
                let format = stored & ~GenerationEncryption.formatFlag
                guard format <= formatVersion else { throw newerFormat(format) }
                guard format == formatVersion else { throw OlderFormat() }
                guard format == stored || header != nil else { throw CacheError.corruptMetadata() }
                let keys = try GenerationEncryption(stored: header, encryption)
                if let keys { GenerationEncryption.protect(environment, with: keys.sealer) }
                return Heading(
                    budget: try storedBudget(environment) ?? budget, format: format,
                    encryption: keys,
                    lineage: try environment.read { try $0.value(info, lineageKey) })
            }
            guard !environment.options.isReadOnly else { throw CacheError.noCache }
            let keys = try encryption.map { try GenerationEncryption(new: $0) }
            if let keys { GenerationEncryption.protect(environment, with: keys.sealer) }
            let lineage = bytes(of: UInt64.random(in: .min ... .max))
            try environment.write { transaction in
                // One commit writes the counters and the format. Counters without a format are
                // damage: counting from 1 again would give new records the handles of old ones.
                guard try !transaction.contains(info, Counters.key) else {
                    throw CacheError.corruptMetadata()
                }
                try transaction.put(info, formatKey, formatValue(isEncrypted: keys != nil))
                if let keys {
                    try transaction.put(info, GenerationEncryption.headerKey, keys.headerValue)
                }
                try transaction.put(info, budgetKey, bytes(of: UInt64(budget.bytes)))
                try transaction.put(info, lineageKey, lineage)
                try transaction.put(info, Counters.key, Counters().bytes)
            }
            return Heading(
                budget: budget, format: formatVersion, encryption: keys, lineage: lineage)
        } catch {
            environment.close()
            throw error
        }
    }

    /// The value of `format` in a new file.
    private static func formatValue(isEncrypted: Bool) -> [UInt8] {
        bytes(of: formatVersion | (isEncrypted ? GenerationEncryption.formatFlag : 0))
    }

    /// Thrown for a file of a format that this library does not read any more.
    struct OlderFormat: Error {}

    private static func newerFormat(_ format: UInt32) -> CacheError {
        CacheError(
            .newerFormat,
            """
            The cache has format \(format); this library knows formats up to \(formatVersion). \
            Update the library.
            """
        )
    }

    private static func storedBudget(_ environment: Environment) throws -> ByteCount? {
        let info = environment.keyspace("info")
        let bytes = try environment.read { transaction in
            try transaction.value(info, budgetKey).map { try integer($0, UInt64.self) }
        }
        guard let bytes else { return nil }
        let budget = ByteCount(Int(clamping: bytes))
        guard Configuration.isValid(budget) else { throw CacheError.corruptMetadata() }
        return budget
    }

    /// The counts of the cache's whole life; nil if they can't be read.
    var lifetimeCounters: LifetimeCounters? {
        try? environment.read { try $0.lifetimeCounters(keyspaces) }
    }

    /// Returns the stored budget, which another process may have changed.
    func storedBudget() throws -> ByteCount { try Self.storedBudget(environment) ?? budget }

    /// Stores a new budget.
    func store(_ budget: ByteCount) throws { try Self.store(budget, in: environment) }

    static func store(_ budget: ByteCount, in environment: Environment) throws {
        let info = environment.keyspace("info")
        try environment.write { try $0.put(info, budgetKey, bytes(of: UInt64(budget.bytes))) }
    }

    private static func integer<I: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: [UInt8], _ type: I.Type
    ) throws -> I {
        try ByteReader.reading(bytes) { try $0.integer(type) }
    }

    /// Returns a text that is short enough for a string without memory of its own.
    private static func text(_ lineage: [UInt8]) -> String {
        let number = lineage.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return String(number, radix: 36)
    }

    private static func bytes<I: FixedWidthInteger & BitwiseCopyable>(of value: I) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(integer: value)
        return writer.bytes
    }
}

extension Generation {
    /// Gives readers the shapes and the dictionaries of a commit that has succeeded.
    func publish(_ outcome: CommitTransaction.Outcome) {
        for (number, shape) in outcome.changedShapes {
            if let shape {
                shapes.add(shape, number: number)
            } else {
                shapes.remove(number)
            }
        }
        for (number, dictionary) in outcome.transaction.stored.foundDictionaries {
            dictionaries.add(dictionary, number: number)
        }
        for number in outcome.droppedDictionaries { dictionaries.remove(number) }
    }
}

/// The shapes or dictionaries of one generation, by the number under which records refer to them.
///
/// A number never changes its meaning, so an entry never becomes invalid. Entries are added after
/// their commit. A reader finds missing ones, which another process or a recent commit has written,
/// in its own snapshot.
final class NumberedTable<Element: Sendable>: Sendable {
    /// Elements with higher numbers are not kept: readers read them from their snapshots.
    private let capacity: Int
    // protected by itself
    private let elements = Mutex<[Element?]>([])

    init(capacity: Int) { self.capacity = capacity }

    /// The elements by number. A read copies them once, and then needs no lock for each record.
    var all: [Element?] { elements.withLock { $0 } }

    func add(_ element: Element, number: UInt64) {
        guard number < capacity else { return }
        elements.withLock { elements in
            let missing = Int(number) + 1 - elements.count
            if missing > 0 { elements.append(contentsOf: repeatElement(nil, count: missing)) }
            elements[Int(number)] = element
        }
    }

    func remove(_ number: UInt64) {
        elements.withLock { elements in
            if number < elements.count { elements[Int(number)] = nil }
        }
    }

    /// Removes the elements whose numbers are not among `numbers`, because another process has
    /// deleted them.
    func removeAll(except numbers: Set<UInt64>) {
        elements.withLock { elements in
            for number in elements.indices where !numbers.contains(UInt64(number)) {
                elements[number] = nil
            }
        }
    }
}

extension GuardFile {
    /// The budget of the live generation, which a generation that replaces it gets, also if the
    /// replaced one can't be read; nil if the file does not tell.
    ///
    /// The low 40 bits of the word are the bytes of the budget, the high 24 bits a check of them.
    var budget: ByteCount? {
        get {
            let budget = ByteCount(Int(ownersWord & (1 << 40 - 1)))
            return ownersWord == Self.word(budget) && Configuration.isValid(budget) ? budget : nil
        }
        set { if let newValue { ownersWord = Self.word(newValue) } }
    }

    private static func word(_ budget: ByteCount) -> UInt64 {
        let bytes = UInt64(budget.bytes)
        var writer = ByteWriter()
        writer.append(integer: bytes)
        return bytes | UInt64(writer.check(seed: 0)) << 40
    }
}

extension GenerationHolder {
    /// Why an empty generation replaced the live one.
    enum Replacement: String, CaseIterable {
        /// The caller emptied the cache.
        case emptied
        /// The generation could not be opened, read or written.
        case damaged
        /// The generation had a format that this library does not read any more.
        case olderFormat
        /// The data file was empty or missing.
        case emptyFile
        /// The directory of the generation could not be read, or contained only files of others.
        case unreadable
        /// There were several generations, and no name of the live one.
        case unnamed
        /// Nothing more could be evicted, and a write that fits the budget did not fit.
        case budgetDeadlock
        /// None of the given keys was that of the cache, and the caller had asked to start anew.
        case wrongKey
        /// The directory or a file in it was removed or renamed while the cache was open.
        case directoryGone
        /// The contents were copied through memory, and the new file could not be written.
        case copyFailed
    }
}
