import EspalierLMDB
import EspalierRecords
import Foundation

/// One generation of a cache, open: its environment, its keyspaces, its shapes and dictionaries in
/// memory.
///
/// Everything numbered, handles, shapes, stamps, belongs to one generation. A switch makes a new
/// object; reads that run keep the old one alive until they end.
final class Generation: Sendable {
    static let formatVersion: UInt32 = 1

    // immutable
    let name: String
    /// What the guard's counter said when it was opened.
    let number: UInt64
    let environment: Environment
    let keyspaces: Keyspaces
    let budget: ByteCount
    /// Of its file, which may be older than what this library writes.
    let format: UInt32
    let shapes: NumberedTable<Shape>
    let dictionaries: NumberedTable<RecordDictionary>

    private init(
        name: String, number: UInt64, environment: Environment, budget: ByteCount, format: UInt32
    ) {
        self.name = name
        self.number = number
        self.environment = environment
        self.budget = budget
        self.format = format
        keyspaces = Keyspaces(environment)
        shapes = NumberedTable(capacity: 1 << 14)
        dictionaries = NumberedTable(capacity: 1 << 12)
    }

    /// The same generation, still open, under a new number and with another budget.
    init(_ other: Generation, number: UInt64, budget: ByteCount) {
        name = other.name
        self.number = number
        environment = other.environment
        self.budget = budget
        format = other.format
        keyspaces = other.keyspaces
        shapes = other.shapes
        dictionaries = other.dictionaries
    }

    /// Bytes of everything beside `data.mdb`: lock.mdb with 126 readers, `guard`, `current`, and
    /// its double while switching, and the two directories themselves.
    static let sideFiles = 8_192 + 16 + 2 * 64 + 2 * 4_096

    static func mapSize(for budget: ByteCount) -> Int {
        let page = 4_096
        return max((budget.bytes - sideFiles) / page, 64) * page
    }

    /// Opens the generation `name`. The budget stored in it counts; `budget` is for a new one.
    static func open(
        _ name: String, in directory: CacheDirectory, budget: ByteCount,
        durability: Durability, under lock: borrowing GuardLock, number: UInt64
    ) throws -> Generation {
        let path = directory.generationPath(name)
        var budget = budget
        while true {
            let options = Environment.Options(
                mapSize: mapSize(for: budget), durability: durability.environment)
            let environment = try openPatiently(path, under: lock, options: options)
            let (stored, format) = try openInfo(environment, ifNew: budget)
            if stored == budget {
                return Generation(
                    name: name, number: number, environment: environment, budget: budget,
                    format: format)
            }
            environment.close()
            budget = stored
        }
    }

    /// Reads that outlive the closing of their cache keep the files open for a moment.
    private static func openPatiently(
        _ path: String, under lock: borrowing GuardLock, options: Environment.Options
    ) throws -> Environment {
        for _ in 0..<5_000 {
            do {
                return try Environment.open(
                    directory: path, under: lock, keyspaces: Keyspaces.names, options: options)
            } catch {
                guard error.code == .alreadyOpen else { throw error }
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        return try Environment.open(
            directory: path, under: lock, keyspaces: Keyspaces.names, options: options)
    }

    private static let formatKey = [UInt8]("format".utf8)
    private static let budgetKey = [UInt8]("budget".utf8)

    /// The budget and format of a generation; a new one is given `budget` and the version this
    /// library writes.
    private static func openInfo(
        _ environment: Environment, ifNew budget: ByteCount
    ) throws -> (budget: ByteCount, format: UInt32) {
        do {
            let info = environment.keyspace("info")
            let format = try environment.read { transaction in
                try transaction.value(info, formatKey).map { try integer($0, UInt32.self) }
            }
            if let format {
                guard format <= formatVersion else { throw newerFormat(format) }
                return (try storedBudget(environment) ?? budget, format)
            }
            try environment.write { transaction in
                // Written with the format: counting from 1 again would give records the handles of
                // others.
                guard try !transaction.contains(info, Counters.key) else { throw damagedBooks }
                try transaction.put(info, formatKey, bytes(of: formatVersion))
                try transaction.put(info, budgetKey, bytes(of: UInt64(budget.bytes)))
                try transaction.put(info, Counters.key, Counters().bytes)
            }
            return (budget, formatVersion)
        } catch {
            environment.close()
            throw error
        }
    }

    private static func newerFormat(_ format: UInt32) -> CacheError {
        CacheError(
            .newerFormat,
            "The cache has format \(format); this library knows formats up to \(formatVersion). Update the library."
        )
    }

    private static func storedBudget(_ environment: Environment) throws -> ByteCount? {
        let info = environment.keyspace("info")
        let bytes = try environment.read { transaction in
            try transaction.value(info, budgetKey).map { try integer($0, UInt64.self) }
        }
        guard let bytes else { return nil }
        let budget = ByteCount(Int(clamping: bytes))
        guard Configuration.isSound(budget) else { throw damagedBooks }
        return budget
    }

    private static var damagedBooks: CacheError {
        CacheError(
            .damaged, "The cache's own books are damaged. Delete the directory and store anew.")
    }

    /// What is stored now, which another process may have changed.
    func storedBudget() throws -> ByteCount { try Self.storedBudget(environment) ?? budget }

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

    private static func bytes<I: FixedWidthInteger & BitwiseCopyable>(of value: I) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(integer: value)
        return writer.bytes
    }
}
