import EspalierLMDB
import EspalierRecords

/// The handles of what restored records refer to, while one write restores them.
struct RestoringReferences {
    private let commit: CommitTransaction
    private let restoration: Restoration
    private var nodes: [Identifier: Handle] = [:]
    /// What is no more, or can't be read. Handed to the restoration when all is committed.
    private(set) var gone: [RecordReference: Handle]
    /// The handles in `gone`: two numbers never become one.
    private var taken: Set<Handle>
    /// Given out for deleted records, and no tombstones yet.
    private var fresh: Set<Handle> = []

    init(commit: CommitTransaction, restoration: Restoration) {
        self.commit = commit
        self.restoration = restoration
        // Of an earlier write in this transaction.
        gone = commit.restorations.last { $0.restoration === restoration }?.handles ?? [:]
        taken = Set(gone.values)
    }

    mutating func bind(_ identifier: String, to handle: Handle) {
        nodes[Identifier(identifier)] = handle
    }

    /// Gives every node that is referred to a handle: one that is not there yet is lost until it is
    /// restored.
    mutating func bind(_ references: [RecordReference], in transaction: inout WriteTransaction)
        throws
    {
        for case .node(let identifier) in references where nodes[Identifier(identifier)] == nil {
            bind(identifier, to: try handle(ofNode: identifier, in: &transaction))
        }
    }

    private func handle(ofNode identifier: String, in transaction: inout WriteTransaction) throws
        -> Handle
    {
        if let known = try commit.knownHandle(.node, identifier, in: &transaction) {
            if let record = try commit.readableRecord(known, in: transaction) {
                if record.isNamed(identifier, in: .node) { return known }
            } else if try transaction.contains(commit.keyspaces.nodes, known.rawValue)
                || commit.counts.isLost(known, in: transaction)
            {
                // What it says can't be read, but it has a place.
                return known
            }
        }
        let handle = try commit.rebind(.node, identifier, in: &transaction)
        try commit.counts.set(.lost, of: handle, in: transaction)
        return handle
    }

    /// The handles of references whose nodes are bound. `old` are those of the value that stands
    /// there: where both are deleted, or lost, it stays as it is.
    mutating func handles(
        of references: [RecordReference], over old: [Handle],
        in transaction: borrowing WriteTransaction
    ) throws -> [Handle] {
        try references.enumerated().map { ordinal, reference in
            if case .node(let identifier) = reference {
                guard let handle = nodes[Identifier(identifier)] else {
                    preconditionFailure("a node that is not bound")
                }
                return handle
            }
            return try handle(
                ofGone: reference, over: ordinal < old.count ? old[ordinal] : nil, in: transaction)
        }
    }

    private mutating func handle(
        ofGone reference: RecordReference, over old: Handle?,
        in transaction: borrowing WriteTransaction
    ) throws -> Handle {
        // A stub that has a name is another record's place.
        let flags: StateEntry.Flags =
            if case .deleted = reference { .tombstone } else { [.lost, .nameless] }
        if let known = gone[reference], fresh.contains(known) { return known }
        let known = gone[reference] ?? restoration.handle(of: reference, in: commit.generation)
        let standing = old.flatMap {
            taken.contains($0) || restoration.knows($0, in: commit.generation) ? nil : $0
        }
        // One that is known may be gone for good since.
        if let handle = known ?? standing,
            try commit.counts.entry(handle, in: transaction).flags.isSuperset(of: flags)
        {
            take(handle, for: reference)
            return handle
        }
        let handle = commit.makeHandle()
        take(handle, for: reference)
        if flags.contains(.lost) {
            try commit.counts.set(flags, of: handle, in: transaction)
        } else {
            fresh.insert(handle)
        }
        return handle
    }

    private mutating func take(_ handle: Handle, for reference: RecordReference) {
        gone[reference] = handle
        taken.insert(handle)
    }

    /// Makes tombstones of the handles given out for deleted records. They have to be referred to
    /// by now.
    mutating func makeTombstones(in transaction: borrowing WriteTransaction) throws {
        for handle in fresh.sorted() { try commit.counts.remove(handle, in: transaction) }
        fresh.removeAll()
    }
}
