import Espalier
import Feeds

/// A contender and how to make one.
struct Contestant: Sendable {
    let id: ContenderID
    let make: @Sendable (_ directory: String, _ durability: Durability) throws -> any Contender

    init(
        _ id: ContenderID,
        make:
            @escaping @Sendable (_ directory: String, _ durability: Durability) throws ->
            any Contender
    ) {
        self.id = id
        self.make = make
    }

    var name: String { id.name }
    var role: ContenderID.Role { id.role }

    static let engine = engine(.engine, Feed.self, .none)

    static let all: [Contestant] = [
        engine, engine(.engineCompressed, Feed.self, .standard),
        engine(.engineMemory, Feed.self, .standard, memory: Configuration().memoryBudget),
        engine(.engineCodable, CodableFeed.self, .none),
        engine(.engineCodableCompressed, CodableFeed.self, .standard),
        Contestant(.handWrittenBaseline) { try BaselineContender(directory: $0, durability: $1) },
        Contestant(.jsonBlobs) { try BlobContender(directory: $0, durability: $1, format: .json) },
        Contestant(.propertyListBlobs) {
            try BlobContender(directory: $0, durability: $1, format: .propertyList)
        },
        Contestant(.compressedBlobs) {
            try BlobContender(directory: $0, durability: $1, format: .compressedJSON)
        },
        Contestant(.genericRows) { try GenericRowsContender(directory: $0, durability: $1) },
        Contestant(.typedRows) { try RowsContender(directory: $0, durability: $1) },
        Contestant(.tables) { try TablesContender(directory: $0, durability: $1) },
        Contestant(.files) { FilesContender(directory: $0, durability: $1, format: .json) },
        Contestant(.compressedFiles) {
            FilesContender(directory: $0, durability: $1, format: .compressedJSON)
        },
        Contestant(.rocksDB) { try RocksDBContender(directory: $0, durability: $1) },
        Contestant(.memory) { _, _ in MemoryContender() },
    ]

    /// Only for workloads that read beside a writer.
    static let snapshots = [
        engine(.engineSnapshot, Feed.self, .none, .snapshot),
        engine(.engineCompressedSnapshot, Feed.self, .standard, .snapshot),
    ]

    private static func engine<Shown: FeedModel>(
        _ id: ContenderID, _ type: Shown.Type, _ compression: Compression,
        _ consistency: Consistency = .latest, memory: ByteCount = ByteCount(0)
    ) -> Contestant {
        Contestant(id) {
            EngineContender<Shown>(
                directory: $0, durability: $1, compression: compression, consistency: consistency,
                memory: memory)
        }
    }
}
