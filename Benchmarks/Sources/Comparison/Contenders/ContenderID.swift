/// Which contender: what reports hold, directories are called and options ask for. Its printed name
/// is for people alone.
enum ContenderID: String, Codable, CaseIterable {
    case engine
    case engineCompressed = "engine-compressed"
    case engineCodable = "engine-codable"
    case engineCodableCompressed = "engine-codable-compressed"
    /// The engine with reads that never wait for a writer; those of the others see what was
    /// submitted before.
    case engineSnapshot = "engine-snapshot"
    case engineCompressedSnapshot = "engine-compressed-snapshot"
    case floor
    case jsonBlobs = "json-blobs"
    case propertyListBlobs = "property-list-blobs"
    case genericRows = "generic-rows"
    case typedRows = "typed-rows"
    case tables
    case files
    case rocksDB = "rocksdb"
    case memory

    enum Role {
        /// This library.
        case engine
        /// What the least code over LMDB takes, with nothing general: no peer, but what there is to
        /// reach.
        case floor
        /// What is used today.
        case peer
        /// Models in memory, which do not outlive the process.
        case ceiling
    }

    var role: Role {
        switch self {
        case .engine, .engineCompressed, .engineCodable, .engineCodableCompressed, .engineSnapshot,
            .engineCompressedSnapshot:
            .engine
        case .floor: .floor
        case .jsonBlobs, .propertyListBlobs, .genericRows, .typedRows, .tables, .files, .rocksDB:
            .peer
        case .memory: .ceiling
        }
    }

    var name: String {
        switch self {
        case .engine: "Espalier"
        case .engineCompressed: "Espalier, compressed"
        case .engineCodable: "Espalier, Codable"
        case .engineCodableCompressed: "Espalier, Codable, compressed"
        case .engineSnapshot: "Espalier, .snapshot"
        case .engineCompressedSnapshot: "Espalier, compressed, .snapshot"
        case .floor: "floor: LMDB by hand"
        case .jsonBlobs: "JSON blobs in SQLite"
        case .propertyListBlobs: "property-list blobs in SQLite"
        case .genericRows: "normalized rows in SQLite, as Apollo"
        case .typedRows: "normalized rows in SQLite, typed"
        case .tables: "tables and joins in SQLite"
        case .files: "JSON files"
        case .rocksDB: "RocksDB by hand"
        case .memory: "dictionary in memory"
        }
    }
}
