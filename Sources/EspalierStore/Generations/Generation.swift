import EspalierLMDB
import EspalierRecords

/// One generation of a cache, open: its environment, its keyspaces, its shapes in memory.
///
/// Everything numbered, handles, shapes, stamps, belongs to one generation. A switch makes a new object; reads that run
/// keep the old one alive until they end.
final class Generation: Sendable {
    static let formatVersion: UInt32 = 1

    /// Pages that only deletes may use: an edit copies the pages it touches, so a full map could not even be emptied.
    static let reservedPages = 32

    // immutable
    let name: String
    /// What the guard's counter said when it was opened.
    let number: UInt64
    let environment: Environment
    let keyspaces: Keyspaces
    let budget: ByteCount
    /// Of its file, which may be older than what this library writes.
    let format: UInt32
    let shapes = ShapeTable()

    private init(name: String, number: UInt64, environment: Environment, budget: ByteCount, format: UInt32) {
        self.name = name
        self.number = number
        self.environment = environment
        self.budget = budget
        self.format = format
        keyspaces = Keyspaces(environment)
    }

    /// Bytes of the files beside `data.mdb`: lock.mdb with 126 readers, `guard`, `current`, and its double while switching.
    private static let sideFiles = 8_192 + 8 + 2 * 64

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
            let options = Environment.Options(mapSize: mapSize(for: budget), durability: durability.environment)
            let environment = try Environment.open(
                directory: path, under: lock, keyspaces: Keyspaces.names, options: options)
            let (stored, format) = try storedBudget(environment, ifNew: budget)
            if stored == budget {
                return Generation(
                    name: name, number: number, environment: environment, budget: budget, format: format)
            }
            environment.close()
            budget = stored
        }
    }

    private static let formatKey = [UInt8]("format".utf8)
    private static let budgetKey = [UInt8]("budget".utf8)

    /// The budget and format of a generation; a new one is given `budget` and the version this library writes.
    private static func storedBudget(
        _ environment: Environment, ifNew budget: ByteCount
    ) throws -> (budget: ByteCount, format: UInt32) {
        let info = environment.keyspace("info")
        let found = try environment.read { transaction in
            (
                format: try transaction.value(info, formatKey).map { try integer($0, UInt32.self) },
                budget: try transaction.value(info, budgetKey).map { try integer($0, UInt64.self) }
            )
        }
        if let format = found.format {
            guard format <= formatVersion else {
                environment.close()
                throw CacheError(
                    .newerFormat,
                    "The cache has format \(format); this library knows formats up to \(formatVersion). Update the library."
                )
            }
            return (ByteCount(Int(clamping: found.budget ?? UInt64(budget.bytes))), format)
        }
        try environment.write { transaction in
            try transaction.put(info, formatKey, bytes(of: formatVersion))
            try transaction.put(info, budgetKey, bytes(of: UInt64(budget.bytes)))
            try transaction.put(info, Counters.key, Counters().bytes)
        }
        return (budget, formatVersion)
    }

    private static func integer<I: FixedWidthInteger & BitwiseCopyable>(_ bytes: [UInt8], _ type: I.Type) throws -> I {
        try ByteReader.reading(bytes) { try $0.integer(type) }
    }

    private static func bytes<I: FixedWidthInteger & BitwiseCopyable>(of value: I) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(integer: value)
        return writer.bytes
    }
}
