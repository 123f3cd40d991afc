import EspalierConfinement
import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// A tree that a read has decoded, kept in memory.
///
/// All threads may use a tree. What changes is atomic: up to which commit the tree is known to be
/// right, and whether it was used lately.
class MemoryTree: @unchecked Sendable {
    /// What a read asks for.
    struct Key: Hashable, Sendable {
        let nameSpace: NameSpace
        let identifier: Identifier
        /// The type of what the read returns: a model, or an array of models.
        let value: ObjectIdentifier
    }

    // immutable
    let key: Key
    let source: MemorySource
    /// `source` without reference counting, for reads: see `Uncounted`.
    let lentSource: Uncounted<MemorySource>
    /// The record that counts as accessed.
    let handle: Handle
    /// Records on cycles below it that count as accessed, too.
    let cycles: [Handle]
    /// Whether the read has looked for such records.
    private let knowsCycles: Bool
    let tree: RecordedTree
    let isCut: Bool
    let recordCount: Int
    let recordBytes: Int
    let ages: TreeAges
    /// An estimate of the memory that the tree takes.
    let byteCount: Int

    // atomic
    /// The last commit in which the tree was right.
    private let checked: Atomic<UInt64>
    /// When the entry was written by itself, in seconds since 1970; `noDate` or `unknownDate`.
    private let date: Atomic<Int64>
    private let use = Atomic<Bool>(false)

    // protected by the state of the tier
    /// Where the tree stands in the list of all trees.
    var place = 0

    private static let unknownDate = Int64.min
    private static let noDate = Int64.max

    /// What a read tells of the tree that it has decoded.
    struct Description {
        let handle: Handle
        let cycles: [Handle]
        let knowsCycles: Bool
        let isCut: Bool
        let recordCount: Int
        /// The bytes of the records.
        let recordBytes: Int
        /// The number of the snapshot's last commit.
        let commit: UInt64
        /// Nil if the read did not look; `.some(nil)` if the entry has no date.
        let writtenAt: Date??
        let ages: TreeAges
    }

    init(
        _ key: Key, of source: MemorySource, _ tree: RecordedTree, _ description: Description,
        valueBytes: Int
    ) {
        self.key = key
        self.source = source
        lentSource = Uncounted(source)
        self.tree = tree
        handle = description.handle
        cycles = description.cycles
        knowsCycles = description.knowsCycles
        isCut = description.isCut
        recordCount = description.recordCount
        recordBytes = description.recordBytes
        ages = description.ages
        byteCount = Self.byteCount(tree, description.recordBytes, valueBytes, key)
        checked = Atomic(description.commit)
        date = Atomic(Self.seconds(description.writtenAt))
    }

    /// Text and arrays of models take memory of their own: less than three times the bytes that the
    /// records have, apart from what `ValueDecoder.noteMemory` notes. The benchmark `Models memory`
    /// compares the estimate with the heap.
    private static func byteCount(
        _ tree: RecordedTree, _ recordBytes: Int, _ valueBytes: Int, _ key: Key
    ) -> Int {
        let text = Double(recordBytes * ValueDecoder.memoryPerByte) * max(1, tree.modelsPerNode)
        return 512 + tree.ownBytes + Int(text) + valueBytes + key.identifier.string.utf8.count
    }

    private static func seconds(_ date: Date??) -> Int64 {
        guard let date else { return unknownDate }
        return date.map { Int64($0.timeIntervalSince1970) } ?? noDate
    }

    // MARK: - Validity

    /// The last commit in which the tree is known to be right.
    var checkedCommit: UInt64 { checked.load(ordering: .acquiring) }

    /// Whether the tree is valid in the last commit of the history, which the tree then notes.
    var isValid: Bool { lentSource.with(isValid) }

    private func isValid(in source: MemorySource) -> Bool {
        // From the first detachment on, a use has to touch the records on cycles, too.
        guard knowsCycles || !source.generation.hasDetached else { return false }
        let known = checkedCommit
        if known == source.history.position { return true }
        guard let (entries, through) = source.history.entries(after: known),
            !isChanged(by: entries)
        else { return false }
        if entries.contains(where: { $0.dated.contains(handle) }) {
            date.store(Self.unknownDate, ordering: .relaxed)
        }
        checked.store(through, ordering: .releasing)
        return true
    }

    /// Whether a record of the tree may expire.
    var hasAges: Bool { ages.oldest != nil }

    /// Whether a read of the tree has to look up the dates of its records.
    var needsDates: Bool { hasAges || ages.dependsOnDates }

    /// The most changed records with which the tree compares itself. With more, reading it anew
    /// does not take longer.
    var searchLimit: Int { 256 + 4 * tree.nodeCount }

    /// Returns whether a read would now give another result. Says so, too, if it would take too
    /// long to find out.
    private func isChanged(by entries: [CommitHistory.Entry]) -> Bool {
        if key.nameSpace != .node, entries.contains(where: { $0.keys.contains(key.identifier) }) {
            return true
        }
        // A record that was written again, unchanged, expires later.
        if ages.dependsOnDates, entries.contains(where: { tree.contains(anyOf: $0.dated) }) {
            return true
        }
        // A sorted list of all changes pays only for many records.
        if tree.nodeCount <= 16 {
            return entries.contains { tree.contains(anyOf: $0.changed) }
        }
        guard let changed = CommitHistory.changed(in: entries, limit: searchLimit) else {
            return true
        }
        return tree.contains(anyOf: changed)
    }

    // MARK: - Dates

    /// When the entry was written by itself; nil if the tree does not know, `.some(nil)` if the
    /// entry has no date.
    var writtenAt: Date?? {
        switch date.load(ordering: .relaxed) {
        case Self.unknownDate: nil
        case Self.noDate: .some(nil)
        case let seconds: Date(timeIntervalSince1970: TimeInterval(seconds))
        }
    }

    // MARK: - Use

    func noteUse() {
        // A store would take the line from the caches of all other processors.
        if !use.load(ordering: .relaxed) { use.store(true, ordering: .relaxed) }
    }

    /// Returns whether the tree was used since the last call.
    func takeUse() -> Bool {
        use.load(ordering: .relaxed) && use.exchange(false, ordering: .relaxed)
    }
}

/// A tree with what the read returned.
final class MemoryValue<Value: Sendable>: MemoryTree, @unchecked Sendable {
    let value: Value

    init(
        _ value: Value, _ count: Int, _ key: Key, of source: MemorySource, _ tree: RecordedTree,
        _ description: Description
    ) {
        self.value = value
        super.init(
            key, of: source, tree, description,
            valueBytes: count * max(MemoryLayout<Value>.stride, 128))
    }
}

/// The generation that trees were read from.
final class MemorySource: Sendable {
    let generation: Generation
    let lineageName: String
    let history: CommitHistory
    private let commitNumber: CommitNumber
    private let guardFile: GuardFile
    private let isClosed = Atomic<Bool>(false)

    /// - Parameter number: The last commit of the snapshot that the first tree was read from.
    init(_ generation: Generation, _ guardFile: GuardFile, after number: UInt64) throws {
        self.generation = generation
        lineageName = generation.lineageName
        history = CommitHistory(after: number)
        self.guardFile = guardFile
        commitNumber = try CommitNumber(of: generation.environment)
    }

    /// Whether no process has switched to another generation.
    var isLive: Bool {
        guardFile.generation == generation.number && !isClosed.load(ordering: .relaxed)
    }

    /// The last commit of any process.
    var lastCommit: UInt64 { commitNumber.value }

    /// Whether its trees are read: no process has switched to another generation, and the history
    /// has the last commit.
    var isCurrent: Bool { isLive && lastCommit == history.position }

    func close() { isClosed.store(true, ordering: .relaxed) }
}
