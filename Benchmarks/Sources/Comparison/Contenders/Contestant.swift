import Espalier
import Feeds

/// A contender's name and how to make one.
struct Contestant: Sendable {
    enum Role: String, Codable {
        /// This library.
        case engine
        /// What the least code over LMDB takes, with nothing general: no peer, but what there is to reach.
        case floor
        /// What is used today.
        case peer
        /// Models in memory, which do not outlive the process.
        case ceiling
    }

    let name: String
    let role: Role
    let make: @Sendable (_ directory: String, _ durability: Durability) throws -> any Contender

    static let all: [Contestant] = [
        engine("Espalier", Feed.self, .none), engine("Espalier, compressed", Feed.self, .standard),
        engine("Espalier, Codable", CodableFeed.self, .none),
        engine("Espalier, Codable, compressed", CodableFeed.self, .standard),
        Contestant(name: "floor: LMDB by hand", role: .floor) { try LMDBFloor(directory: $0, durability: $1) },
        Contestant(name: "JSON blobs in SQLite", role: .peer) {
            try BlobContender(directory: $0, durability: $1, format: .json)
        },
        Contestant(name: "property-list blobs in SQLite", role: .peer) {
            try BlobContender(directory: $0, durability: $1, format: .propertyList)
        },
        Contestant(name: "normalized rows in SQLite, as Apollo", role: .peer) {
            try GenericRowsContender(directory: $0, durability: $1)
        },
        Contestant(name: "normalized rows in SQLite, typed", role: .peer) {
            try RowsContender(directory: $0, durability: $1)
        },
        Contestant(name: "tables and joins in SQLite", role: .peer) {
            try TablesContender(directory: $0, durability: $1)
        },
        Contestant(name: "JSON files", role: .peer) { try FilesContender(directory: $0, durability: $1) },
        Contestant(name: "RocksDB by hand", role: .peer) { try RocksDBContender(directory: $0, durability: $1) },
        Contestant(name: "dictionary in memory", role: .ceiling) { _, _ in MemoryContender() },
    ]

    /// The engine with reads that never wait for a writer; those of `all` see what was submitted before.
    static let snapshots = [
        Contestant(name: "Espalier, .snapshot", role: .engine) {
            EngineContender<Feed>(directory: $0, durability: $1, compression: .none, consistency: .snapshot)
        },
        Contestant(name: "Espalier, compressed, .snapshot", role: .engine) {
            EngineContender<Feed>(directory: $0, durability: $1, compression: .standard, consistency: .snapshot)
        },
    ]

    private static func engine<Shown: FeedModel>(
        _ name: String, _ type: Shown.Type, _ compression: Compression
    ) -> Contestant {
        Contestant(name: name, role: .engine) {
            EngineContender<Shown>(directory: $0, durability: $1, compression: compression)
        }
    }
}
