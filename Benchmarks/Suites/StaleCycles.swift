#if CommandLine
import EspalierFixtures
import EspalierModels
import EspalierRecords
import EspalierStore

/// Reads a hot tenth of all trees again and again, beside nine tenths that are never read twice,
/// once with back-pointers in every tree and once without: stale cycles must not outlive trees that
/// are in use.
struct StaleCycles {
    let folder: String
    var budget: ByteCount
    /// How many budgets' worth of trees are written.
    var turnover = 4.0

    /// Returns the hit rate of reads of the hot trees.
    func hitRate(cyclic: Bool) throws -> Double {
        // There are thousands of small commits, and none of them has to survive.
        let configuration = Configuration(budget: budget, durability: .noSync)
        let cache = try NormalizedCache(
            directory: folder + (cyclic ? "/cycles" : "/trees"), configuration: configuration)
        defer { cache.close() }
        var random = SplitMix64(state: 7)
        // As many trees as fill about half of the cache.
        let hot = budget.bytes / 2 / CyclicThread.bytes
        let trees = Int(Double(budget.bytes) * turnover) / CyclicThread.bytes
        let zipf = ZipfTable(count: hot, exponent: 0.6)
        var hits = 0
        var reads = 0
        for number in 0..<trees {
            try cache.set(CyclicThread(id: hot + number, isCyclic: cyclic)).wait()
            // A hot tree that is missing is fetched again.
            let id = zipf.draw(&random)
            reads += 1
            if cache.read(CyclicThread.self, CyclicThread.identifier(id)) != nil {
                hits += 1
            } else {
                try cache.set(CyclicThread(id: id, isCyclic: cyclic)).wait()
            }
        }
        return Double(hits) / Double(reads)
    }
}

/// A thread of messages, each of which may point back at the thread.
struct CyclicThread: NormalizedModel {
    static let bytes = 1_600

    let id: Int
    let messages: [CyclicMessage]
    var modelIdentifier: String? { Self.identifier(id) }

    static func identifier(_ id: Int) -> String { "Thread:\(id)" }

    init(id: Int, isCyclic: Bool) {
        self.id = id
        messages = (0..<10).map { CyclicMessage(id: id * 10 + $0, thread: isCyclic ? id : nil) }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        messages = try decoder.decode(forKey: "messages")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(messages, forKey: "messages")
    }
}

struct CyclicMessage: NormalizedModel {
    let id: Int
    let text: String
    let thread: ThreadReference?
    var modelIdentifier: String? { "Message:\(id)" }

    init(id: Int, thread: Int?) {
        self.id = id
        text = "message \(id), which says something in a line or so"
        self.thread = thread.map(ThreadReference.init)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        thread = try decoder.decode(forKey: "thread")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(thread, forKey: "thread")
    }
}

/// A thread as its identifier alone.
struct ThreadReference: NormalizedModel {
    let id: Int
    var modelIdentifier: String? { CyclicThread.identifier(id) }

    init(_ id: Int) { self.id = id }

    init(from decoder: inout RecordDecoder) throws { id = try decoder.decode(forKey: "id") }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}
#endif
