import EspalierLMDB
import EspalierModels
import EspalierRecords
import Foundation
import Synchronization

@testable import EspalierStore

/// A cache without threads: commits, reads and evictions happen in the order of the calls. A commit
/// waits for the slice of the scan for cycles that it has started.
final class CommitterRig {
    private let scratch: Scratch
    private var configuration: Configuration
    private(set) var holder: GenerationHolder
    private(set) var committer: Committer
    private let sets = ChangeSets()

    /// `@unchecked Sendable` because a rig has one thread.
    private final class ChangeSets: @unchecked Sendable {
        let sets = Mutex<[ChangeSet]>([])
        var onCommit: ((ChangeSet) -> Void)?
        weak var committer: Committer?

        func add(_ changes: ChangeSet) {
            sets.withLock { $0.append(changes) }
            while committer?.logs.cycleCollector.isScanning == true {
                Thread.sleep(forTimeInterval: 0.000_1)
            }
            onCommit?(changes)
        }
    }

    /// Called after each commit; may commit itself.
    var onCommit: ((ChangeSet) -> Void)? {
        get { sets.onCommit }
        set { sets.onCommit = newValue }
    }

    init(_ configuration: Configuration) throws {
        scratch = try Scratch()
        self.configuration = configuration
        (holder, committer) = try Self.open(scratch, configuration, sets)
    }

    deinit { holder.close() }

    private static func open(
        _ scratch: Scratch, _ configuration: Configuration, _ sets: ChangeSets
    ) throws -> (GenerationHolder, Committer) {
        let directory = CacheDirectory(scratch.directory)
        _ = try directory.prepare(create: true)
        let holder = try GenerationHolder(directory, configuration, create: true)
        let committer = Committer(
            holder, StatisticsRecorder(), configuration.compression, wakeWriter: {},
            onCommit: { changes, _ in sets.add(changes) })
        sets.committer = committer
        return (holder, committer)
    }

    func reopen() throws {
        committer.flushLogs()
        holder.close()
        (holder, committer) = try Self.open(scratch, configuration, sets)
    }

    var directoryBytes: Int { holder.directory.byteCount() }

    /// Returns the change sets of the commits since the last call.
    func takeChanges() -> [ChangeSet] {
        sets.sets.withLock { sets in
            defer { sets = [] }
            return sets
        }
    }

    func set(_ branch: Branch) throws {
        let flattener = Flattener()
        let value = try flattener.value { try ModelStorage.encode(branch, into: $0) }
        try committer.commit([.nodes(flattener.finish(), roots: value.children)]
        )
    }

    func set(_ branch: Branch, key: String) throws {
        let flattener = Flattener()
        let value = try flattener.value { try ModelStorage.encode(branch, into: $0) }
        try committer.commit([.key(key, value, flattener.finish())])
    }

    func set(_ branches: [Branch], collection: String) throws {
        let flattener = Flattener()
        let values = try branches.map { branch in
            try flattener.value { try ModelStorage.encode(branch, into: $0) }
        }
        try committer.commit([
            .collection(collection, .replaceAll(values), flattener.finish())
        ])
    }

    func commit(_ operation: WriteOperation) throws { try committer.commit([operation]) }

    /// Reads a tree. Returns whether it was a hit.
    func read(_ nameSpace: NameSpace, _ identifier: String, touching: Bool = true) throws -> Bool {
        let generation = try holder.current()
        return try generation.environment.read { transaction in
            let reader = SnapshotReader(
                generation: generation, snapshot: transaction.snapshot, limits: TreeLimits())
            let reason: MissReason?
            switch nameSpace {
            case .node: reason = try reader.node(Branch.self, identifier).reason
            case .key: reason = try reader.model(Branch.self, forKey: identifier).reason
            case .collection, .segment:
                reason = try reader.collection(Branch.self, forKey: identifier).reason
            }
            committer.logs.cycleCollector.flag(reader.onCycle, in: generation)
            if touching {
                for handle in reader.touched {
                    _ = committer.logs.accesses.touch(handle, in: generation.lineageName)
                }
            }
            return reason == nil
        }
    }

    func handle(_ identifier: String) throws -> Handle? {
        let generation = try holder.current()
        return try generation.environment.read {
            try $0.handle(generation.keyspaces, .node, identifier)
        }
    }

    func verify() throws -> VerifyReport {
        let generation = try holder.current()
        return try generation.environment.read { try Verifier.verify($0.snapshot, generation) }
    }
}

/// A node with any number of children of its own type. A stub refers to a record and leaves it as
/// it is.
final class Branch: NormalizedModel {
    let id: String
    let text: String?
    let children: [Branch]
    let isStub: Bool

    init(_ id: String, _ text: String, _ children: [Branch] = []) {
        self.id = id
        self.text = text
        self.children = children
        isStub = false
    }

    init(stub id: String) {
        self.id = id
        text = nil
        children = []
        isStub = true
    }

    var modelIdentifier: String? { id }
    var projectionIdentifier: String { isStub ? "Stub" : "Branch" }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        children = try decoder.decode([Branch]?.self, forKey: "children") ?? []
        isStub = false
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        guard !isStub else { return }
        try encoder.encode(text, forKey: "text")
        try encoder.encode(children, forKey: "children")
    }

    /// Every branch of the tree, in pre-order.
    var all: [Branch] { [self] + children.flatMap(\.all) }
}
