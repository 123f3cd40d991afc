/// The identifier of a contender in reports, names of directories and options. Its printed name is
/// for people alone.
enum ContenderID: String, Codable, CaseIterable {
    case engine
    case engineCompressed = "engine-compressed"
    /// The engine that keeps decoded trees in memory, as it does by default. The others decode each
    /// tree that they read.
    case engineMemory = "engine-memory"
    case engineCodable = "engine-codable"
    case engineCodableCompressed = "engine-codable-compressed"
    /// The engine with reads that never wait for a writer. Reads of the others see all writes that
    /// were submitted before.
    case engineSnapshot = "engine-snapshot"
    case engineCompressedSnapshot = "engine-compressed-snapshot"
    case handWrittenBaseline = "hand-written-baseline"
    case jsonBlobs = "json-blobs"
    case propertyListBlobs = "property-list-blobs"
    case compressedBlobs = "compressed-blobs"
    case genericRows = "generic-rows"
    case typedRows = "typed-rows"
    case tables
    case files
    case compressedFiles = "compressed-files"
    case rocksDB = "rocksdb"
    case memory

    enum Role {
        /// This library.
        case engine
        /// The least code over LMDB, with nothing general: no peer, but the speed to reach.
        case baseline
        /// A way that apps use today.
        case peer
        /// Models in memory, which do not outlive the process.
        case ceiling
    }

    var role: Role {
        switch self {
        case .engine, .engineCompressed, .engineMemory, .engineCodable, .engineCodableCompressed,
            .engineSnapshot, .engineCompressedSnapshot:
            .engine
        case .handWrittenBaseline: .baseline
        case .jsonBlobs, .propertyListBlobs, .compressedBlobs, .genericRows, .typedRows, .tables,
            .files, .compressedFiles, .rocksDB:
            .peer
        case .memory: .ceiling
        }
    }

    var name: String {
        switch self {
        case .engine: "Espalier"
        case .engineCompressed: "Espalier, compressed"
        case .engineMemory: "Espalier, compressed, trees in memory"
        case .engineCodable: "Espalier, Codable"
        case .engineCodableCompressed: "Espalier, Codable, compressed"
        case .engineSnapshot: "Espalier, .snapshot"
        case .engineCompressedSnapshot: "Espalier, compressed, .snapshot"
        case .handWrittenBaseline: "hand-written baseline"
        case .jsonBlobs: "JSON blobs in SQLite"
        case .propertyListBlobs: "property-list blobs in SQLite"
        case .compressedBlobs: "zstd JSON blobs in SQLite"
        case .genericRows: "normalized rows in SQLite, as Apollo"
        case .typedRows: "normalized rows in SQLite, typed"
        case .tables: "tables and joins in SQLite"
        case .files: "JSON files"
        case .compressedFiles: "zstd JSON files"
        case .rocksDB: "RocksDB by hand"
        case .memory: "dictionary in memory"
        }
    }
}
