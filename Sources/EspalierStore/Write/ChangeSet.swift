import EspalierConfinement
import EspalierRecords

/// The changes of one commit, by identifier. The cache publishes them in the order of commits.
///
/// A commit can contain many writes. An identifier that several writes changed stands here several
/// times. A node that was written and then deleted is only in ``deleted``. A node in both lists was
/// deleted first, so its old parents have lost it.
///
/// Where ``isReset`` is true, anything may have changed: read again what you show. That is so when
/// the cache was emptied, and when the changes of other processes could not be listed. The lists
/// are then empty, except for ``deleted``: nodes that were deleted, and may have been written
/// since. A subscriber that does not keep up receives several commits as one change set. No change
/// is lost without a reset in its place.
public struct ChangeSet: Sendable, Hashable {
    /// Where a change was made.
    public enum Origin: Sendable, Hashable {
        /// This process, through any `NormalizedCache` over the directory.
        case thisProcess
        /// Another process, with its number; nil if the number is not known, or if the change set
        /// stands for commits of several processes.
        case anotherProcess(Int32?)
    }

    /// The number of the commit within its generation; ascending, with gaps. 0 for a reset.
    public internal(set) var commit: UInt64
    /// Where the commit was made.
    public internal(set) var origin = Origin.thisProcess
    /// Nodes whose record was written because its content changed.
    public internal(set) var written: [String] = []
    /// Nodes deleted by the caller.
    public internal(set) var deleted: [String] = []
    /// Nodes evicted for the budget, and nodes that stay but have lost their references for it.
    public internal(set) var evicted: [String] = []
    /// Keys and collections whose entry was changed or removed. An ``Outbox`` that was changed is
    /// listed as `outbox/` and its name.
    public internal(set) var keys: [String] = []
    /// Whether anything may have changed: the cache was emptied, or the changes are not known. The
    /// lists are then empty, except for ``deleted``.
    public internal(set) var isReset = false
    /// Whether the cache was emptied: by `removeAll`, or because it began anew. It is then a reset,
    /// too. After any other reset, what can't be read may have been evicted.
    public internal(set) var isEmptied = false
    /// The evicted records, in the order of eviction.
    var victims: [Victim] = []
    /// The number of writes in the commit.
    var writeCount = 0
    /// The optimistic changes and operations that the commit found damaged.
    var lost = LostChanges()
    /// The source of the operation under way; see `WriteOperation.source`.
    var source: Int = 0
    /// The sources of the elements of `written` and of `keys`. An element beyond the end has none.
    fileprivate var writtenSources: [Int] = []
    fileprivate var keySources: [Int] = []
    private var lookups = Lookups()

    /// What a commit needs to know about the lists while it makes them. It is no part of the value.
    private struct Lookups: Hashable {
        /// What the elements of `keys` name.
        var keySpaces: [NameSpace] = []
        /// The identifiers in `written`, once a deletion has looked for its own among many.
        var written: Set<Identifier>?

        static func == (left: Lookups, right: Lookups) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }

    init(commit: UInt64) { self.commit = commit }

    /// Whether the commit changed nothing that a reader can see.
    public var isEmpty: Bool {
        written.isEmpty && deleted.isEmpty && evicted.isEmpty && keys.isEmpty && !isReset
    }

    /// Returns the nodes and the keys that others than `source` have written.
    package func written(notBy source: Int) -> (nodes: [String], keys: [String]) {
        (
            Self.filter(written, writtenSources, notBy: source),
            Self.filter(keys, keySources, notBy: source)
        )
    }

    private static func filter(
        _ names: [String], _ sources: [Int], notBy source: Int
    ) -> [String] {
        guard !sources.isEmpty else { return names }
        return names.indices.compactMap { index in
            index < sources.count && sources[index] == source ? nil : names[index]
        }
    }

    mutating func write(_ identifier: String) {
        if source != 0 { Self.note(source, at: written.count, in: &writtenSources) }
        written.append(identifier)
        if lookups.written != nil { lookups.written?.insert(Identifier(identifier)) }
    }

    mutating func change(key: String, in nameSpace: NameSpace) {
        if source != 0 { Self.note(source, at: keys.count, in: &keySources) }
        keys.append(key)
        lookups.keySpaces.append(nameSpace)
    }

    private static func note(_ source: Int, at index: Int, in sources: inout [Int]) {
        sources += Array(repeating: 0, count: index - sources.count) + [source]
    }

    /// Creates the change set that says that anything may have changed.
    ///
    /// - Parameter deleted: Nodes that are known to be deleted: nothing else tells of them.
    static func reset(
        by origin: Origin, isEmptied: Bool = false, deleted: [String] = []
    ) -> ChangeSet {
        var changes = ChangeSet(commit: 0)
        changes.origin = origin
        changes.deleted = deleted
        changes.isReset = true
        changes.isEmptied = isEmptied
        return changes
    }

    /// The number of identifiers and keys in all lists.
    var identifierCount: Int { written.count + deleted.count + evicted.count + keys.count }

    mutating func add(_ victim: Victim) {
        victims.append(victim)
        for name in victim.names {
            if name.nameSpace == .node {
                evicted.append(name.identifier.string)
            } else {
                keys.append(name.identifier.string)
                lookups.keySpaces.append(name.nameSpace)
            }
        }
    }

    /// Takes back what was listed of some names since `before`.
    mutating func withdraw(_ names: Set<RecordName>, notIn before: ChangeSet) {
        func keep(_ name: RecordName, _ index: Int, _ known: Int) -> Bool {
            index < known || !names.contains(name)
        }
        let nodes = written.indices.filter {
            keep(RecordName(.node, written[$0]), $0, before.written.count)
        }
        writtenSources = nodes.compactMap { $0 < writtenSources.count ? writtenSources[$0] : nil }
        written = nodes.map { written[$0] }
        lookups.written = nil
        deleted = deleted.indices.filter {
            keep(RecordName(.node, deleted[$0]), $0, before.deleted.count)
        }.map { deleted[$0] }
        let entries = keys.indices.filter { index in
            keep(RecordName(lookups.keySpaces[index], keys[index]), index, before.keys.count)
        }
        lookups.keySpaces = entries.map { lookups.keySpaces[$0] }
        keySources = entries.compactMap { $0 < keySources.count ? keySources[$0] : nil }
        keys = entries.map { keys[$0] }
    }

    mutating func delete(_ identifier: String) {
        deleted.append(identifier)
        if lookups.written == nil, written.count > 64 {
            lookups.written = Set(written.lazy.map(Identifier.init))
        }
        if let names = lookups.written, !names.contains(Identifier(identifier)) { return }
        // From the end, so that the places of the others stay right.
        for index in written.indices.reversed()
        where Identifier(written[index]) == Identifier(identifier) {
            written.remove(at: index)
            if index < writtenSources.count { writtenSources.remove(at: index) }
        }
        lookups.written?.remove(Identifier(identifier))
    }
}

// MARK: - Several commits as one

extension ChangeSet {
    /// Returns one change set for consecutive ones: the union of their identifiers, each once, or a
    /// reset if they have more than `limit`.
    ///
    /// The rules of a single change set hold for the union: a node that was deleted last is not
    /// among the written ones.
    static func union(of sets: [ChangeSet], limit: Int) -> ChangeSet {
        let origins = Set(sets.map(\.origin))
        let origin = origins.count == 1 ? sets[0].origin : .anotherProcess(nil)
        if sets.contains(where: \.isReset) {
            let isEmptied = sets.contains(where: \.isEmptied)
            let deleted = isEmptied ? [] : unique(sets.flatMap(\.deleted))
            return .reset(
                by: origin, isEmptied: isEmptied, deleted: deleted.count <= limit ? deleted : [])
        }
        var union = ChangeSet(commit: sets.last?.commit ?? 0)
        union.origin = origin
        union.writeCount = sets.reduce(0) { $0 + $1.writeCount }
        let deletions = Dictionary(
            sets.enumerated().flatMap { index, set in
                set.deleted.map { (Identifier($0), index) }
            },
            uniquingKeysWith: { $1 })
        // A node that a commit writes after it has deleted it is in both lists of that commit.
        let written = sets.enumerated().flatMap { index, set in
            set.written.filter { deletions[Identifier($0)].map { index >= $0 } ?? true }
        }
        union.written = unique(written)
        union.writtenSources = sources(of: union.written, in: sets, \.written, \.writtenSources)
        union.deleted = unique(sets.flatMap(\.deleted))
        union.evicted = unique(sets.flatMap(\.evicted))
        union.keys = unique(sets.flatMap(\.keys))
        union.keySources = sources(of: union.keys, in: sets, \.keys, \.keySources)
        guard union.identifierCount > limit else { return union }
        return .reset(by: origin, deleted: union.deleted.count <= limit ? union.deleted : [])
    }

    /// Returns the source of each name: 0 for one that several have written.
    private static func sources(
        of names: [String], in sets: [ChangeSet], _ list: KeyPath<ChangeSet, [String]>,
        _ sources: KeyPath<ChangeSet, [Int]>
    ) -> [Int] {
        guard sets.contains(where: { !$0[keyPath: sources].isEmpty }) else { return [] }
        var known: [Identifier: Int] = [:]
        for set in sets {
            let sources = set[keyPath: sources]
            for (index, name) in set[keyPath: list].enumerated() {
                let source = index < sources.count ? sources[index] : 0
                let name = Identifier(name)
                known[name] = known[name, default: source] == source ? source : 0
            }
        }
        return names.map { known[Identifier($0)] ?? 0 }
    }

    private static func unique(_ identifiers: [String]) -> [String] {
        var seen: Set<Identifier> = []
        return identifiers.filter { seen.insert(Identifier($0)).inserted }
    }
}

/// The records whose content one commit changes, for the trees in memory.
///
/// A record that the commit makes is not among them: nothing that was read before depends on it.
/// Only `haveChanged` knows changes of new records, for writes of the same commit that are kept.
///
/// Confined to the thread that commits.
final class ContentChanges {
    /// Handles from here on are new.
    let firstNew: UInt64

    private struct State {
        var changed: [Handle] = []
        var dated: [Handle] = []
        var isUnknown = false
        /// Whether `later` is kept.
        var isMarked = false
        /// The records that have changed since the first mark, new ones too.
        var later: [Handle] = []
    }
    private let state = Confined(State())

    init(firstNew: UInt64) { self.firstNew = firstNew }

    /// Notes that a record has another content, or is gone or deleted.
    func change(_ handle: Handle) {
        if state.value.isMarked { state.value.later.append(handle) }
        if handle.rawValue < firstNew { state.value.changed.append(handle) }
    }

    /// Notes that a record was written by itself, changed or not.
    func date(_ handle: Handle) {
        if handle.rawValue < firstNew { state.value.dated.append(handle) }
    }

    /// Notes that any record may have changed.
    func changeAnything() { state.value.isUnknown = true }

    /// The most records with which `mayHaveChanged` compares a tree.
    private static let searchLimit = 256

    /// Returns whether the commit may have changed a record of a tree so far; also true once more
    /// than `searchLimit` records have changed.
    func mayHaveChanged(_ tree: RecordedTree) -> Bool {
        let changed = state.value.changed
        return state.value.isUnknown || changed.count > Self.searchLimit
            || !changed.isEmpty && tree.contains(anyOf: HandleList(changed))
    }

    /// What the commit had changed at some time.
    struct Mark {
        fileprivate let count: Int
    }

    /// Returns a mark for `haveChanged`. From the first mark on, changes of new records are listed,
    /// too.
    func mark() -> Mark {
        state.value.isMarked = true
        return Mark(count: state.value.later.count)
    }

    /// Returns whether the commit may have changed one of the records after a mark.
    func haveChanged(_ handles: [Handle], after mark: Mark) -> Bool {
        let later = state.value.later[mark.count...]
        guard !state.value.isUnknown, !later.isEmpty else { return state.value.isUnknown }
        let handles = Set(handles)
        return later.contains { handles.contains($0) }
    }

    /// Returns what the commit has changed; nil if that can be anything.
    ///
    /// - Parameter keys: The keys and collections that it has made, changed or removed.
    func entry(_ number: UInt64, keys: [String]) -> CommitHistory.Entry? {
        guard !state.value.isUnknown else { return nil }
        return CommitHistory.Entry(
            number, changed: HandleList(state.value.changed),
            dated: HandleList(state.value.dated), keys: Set(keys.lazy.map(Identifier.init)))
    }
}
