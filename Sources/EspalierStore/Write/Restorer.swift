import EspalierLMDB
import EspalierRecords

/// Replaces the records of the same names by exported ones. It merges nothing: a restored record
/// has exactly the exported content.
struct Restorer {
    private let commit: CommitTransaction
    private var references: RestoredReferences

    init(_ commit: CommitTransaction, _ restoration: Restoration) {
        self.commit = commit
        references = RestoredReferences(commit, restoration)
    }

    /// Restores records.
    ///
    /// The records get their handles first, in the exported order, so that the cache is as
    /// clustered as the exported one. Then each node that is referred to and not stored gets a
    /// handle. Nodes are written before collections, whose segments take further handles.
    mutating func restore(
        _ records: [RestoredRecord], in transaction: inout WriteTransaction
    ) throws {
        commit.states.reserveCapacity(records.count)
        let slots = try records.map {
            try commit.slot($0.nameSpace, $0.identifier, in: &transaction)
        }
        for (record, slot) in zip(records, slots) where record.nameSpace == .node {
            references.bind(record.identifier, to: slot.handle)
        }
        for record in records {
            for value in record.content.values {
                try references.bind(value.references, in: &transaction)
            }
        }
        var children: [Handle: [Handle]] = [:]
        var changed: [Handle] = []
        var written = 0
        for (record, slot) in zip(records, slots) {
            guard case .node(let shape, let values, let isOnCycle) = record.content else {
                continue
            }
            let handles = try references.handles(
                of: values.references, over: slot.old?.children ?? [], in: transaction)
            children[slot.handle] = handles
            if slot.old?.children != handles { changed.append(slot.handle) }
            let content = RecordContent(
                nameSpace: .node, identifier: record.identifier, shape: shape, children: handles,
                values: values.bytes[...])
            if try commit.put(content, at: slot, in: &transaction) {
                commit.changes.write(record.identifier)
                written += 1
            }
            if isOnCycle { try commit.states.set(.onCycle, of: slot.handle, in: transaction) }
            try date(slot.handle, by: record, in: transaction)
            try references.makeTombstones(in: transaction)
        }
        for (record, slot) in zip(records, slots) where record.nameSpace != .node {
            let before = commit.counters.recordsWritten
            try restore(record, at: slot, in: &transaction)
            if commit.counters.recordsWritten > before, !record.isFurtherPart { written += 1 }
            try date(slot.handle, by: record, in: transaction)
            try references.makeTombstones(in: transaction)
        }
        try flagCycles(through: changed, children, in: transaction)
        // A restored record counts as accessed. Only a record in `recency` needs the stamp.
        for handle in children.keys
        where try commit.states.entry(handle, in: transaction).isInRecency {
            try commit.states.touch(handle, in: transaction)
        }
        commit.restorations.append((references.restoration, references.gone, written))
    }

    /// Takes over the age that another store gives a record.
    private func date(
        _ handle: Handle, by record: RestoredRecord, in transaction: borrowing WriteTransaction
    ) throws {
        guard let age = record.age else { return }
        if age.maximum != nil { commit.expiryMark = .any }
        try commit.states.setTimes(
            handle, writtenAt: WriteTime(age.writtenAt), maxAge: age.maximum, in: transaction)
    }

    /// Restores a key or a collection.
    private mutating func restore(
        _ record: RestoredRecord, at slot: RecordSlot, in transaction: inout WriteTransaction
    ) throws {
        switch record.content {
        case .node: break
        case .key(let value):
            let handles = try references.handles(
                of: value.references, over: slot.old?.children ?? [], in: transaction)
            try commit.writeKey(
                record.identifier, value.bytes, children: handles, at: slot, in: &transaction)
        case .collection(let elements), .moreElements(let elements, _):
            let written = commit.counters.recordsWritten
            let list = slot.old.flatMap { try? SegmentList($0) } ?? SegmentList()
            var editor = SegmentEditor(commit, list)
            if case .collection = record.content {
                let old = try storedElements(of: list, under: elements, in: transaction)
                let new = try newElements(elements, over: old, in: transaction)
                try editor.replaceAll(new, in: &transaction)
            } else {
                guard case .moreElements(_, behind: list.count) = record.content else {
                    throw CacheError.partsChanged
                }
                let new = try newElements(elements, over: [], in: transaction)
                try editor.insert(new, at: list.count, in: &transaction)
            }
            try CollectionWriter(commit).write(
                editor.list, record.identifier, at: slot, in: &transaction)
            if commit.counters.recordsWritten > written {
                commit.changes.change(key: record.identifier, in: .collection)
            }
        }
    }

    private mutating func newElements(
        _ elements: [RestoredValue], over old: [StoredElement],
        in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        var new: [StoredElement] = []
        new.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let children = try references.handles(
                of: element.references, over: index < old.count ? old[index].children : [],
                in: transaction)
            new.append(StoredElement(bytes: element.bytes, children: children))
        }
        return new
    }

    /// Returns the stored elements of a collection; none if `elements` refer to nodes only, because
    /// their handles do not depend on the stored elements.
    private func storedElements(
        of list: SegmentList, under elements: [RestoredValue],
        in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        let referToNodes = elements.allSatisfy { element in
            element.references.allSatisfy { if case .node = $0 { true } else { false } }
        }
        guard !referToNodes else { return [] }
        var stored: [StoredElement] = []
        for segment in list.segments {
            guard let record = try commit.readableRecord(segment.handle),
                let elements = try? SegmentContent.decode(record)
            else { break }
            stored += elements
        }
        return stored
    }

    /// Flags the cycles that restored records close. Each such cycle goes through a record whose
    /// children have changed. The search stops at records that are listed as on a cycle.
    private func flagCycles(
        through changed: [Handle], _ restored: [Handle: [Handle]],
        in transaction: borrowing WriteTransaction
    ) throws {
        var search = CycleFinder()
        for start in changed.sorted() {
            try search.search(from: start) { handle in
                if try commit.states.entry(handle, in: transaction).isListedCycle { return [] }
                if let children = restored[handle] { return children }
                return try commit.readableRecord(handle)?.children ?? []
            }
        }
        if !search.found.isEmpty { commit.knownCycles.noteNewCycle() }
        for handle in search.found.sorted() {
            try commit.states.set(.onCycle, of: handle, in: transaction)
            try commit.states.unblockCycle(at: handle, in: transaction)
        }
    }
}

/// The handles that restored records refer to, while one write restores them.
private struct RestoredReferences {
    let restoration: Restoration
    private let commit: CommitTransaction
    private var nodes: [Identifier: Handle] = [:]
    /// The handles of deleted or lost records. The restoration gets them after the commit.
    private(set) var gone: [RecordReference: Handle]
    /// The handles in `gone`. No two references share a handle.
    private var taken: Set<Handle>
    /// New handles of deleted records that are not tombstones yet.
    private var fresh: Set<Handle> = []

    init(_ commit: CommitTransaction, _ restoration: Restoration) {
        self.commit = commit
        self.restoration = restoration
        // An earlier write of the transaction may belong to the same restoration.
        gone = commit.restorations.last { $0.restoration === restoration }?.handles ?? [:]
        taken = Set(gone.values)
    }

    mutating func bind(_ identifier: String, to handle: Handle) {
        nodes[Identifier(identifier)] = handle
    }

    /// Gives a handle to every node that `references` name. A node that is not stored counts as
    /// lost until it is restored.
    mutating func bind(
        _ references: [RecordReference], in transaction: inout WriteTransaction
    ) throws {
        for case .node(let identifier) in references where nodes[Identifier(identifier)] == nil {
            bind(identifier, to: try handle(ofNode: identifier, in: &transaction))
        }
    }

    private func handle(
        ofNode identifier: String, in transaction: inout WriteTransaction
    ) throws -> Handle {
        if let match = try commit.index.match(.node, identifier, in: transaction.snapshot) {
            let known = match.handle
            if let record = try commit.readableRecord(known) {
                if record.isNamed(identifier, in: .node) { return known }
            } else if match.isWhole,
                try commit.records.contains(known) || commit.states.isLost(known, in: transaction)
            {
                // The record can't be read, but a write of its name can refill the handle.
                return known
            }
        }
        // Until it is restored, the record has its name in the index alone.
        let handle = commit.index.rebind(.node, identifier, isWhole: true)
        try commit.states.set(.lost, of: handle, in: transaction)
        return handle
    }

    /// Returns the handles of references whose nodes are bound. `old` are the handles of the stored
    /// value. If the old and the new target are both deleted, or both lost, the old handle stays.
    mutating func handles(
        of references: [RecordReference], over old: [Handle],
        in transaction: borrowing WriteTransaction
    ) throws -> [Handle] {
        try references.enumerated().map { ordinal, reference in
            if case .node(let identifier) = reference {
                guard let handle = nodes[Identifier(identifier)] else {
                    preconditionFailure("A node is not bound.")
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
        // A lost record with a name does not do: a write of that name would refill its handle.
        let flags: StateEntry.Flags =
            if case .deleted = reference { .tombstone } else { [.lost, .nameless] }
        if let known = gone[reference], fresh.contains(known) { return known }
        let known = gone[reference] ?? restoration.handle(of: reference, in: commit.generation)
        let stored = old.flatMap {
            taken.contains($0) || restoration.knows($0, in: commit.generation) ? nil : $0
        }
        // The entry of a known handle may have been removed since.
        if let handle = known ?? stored,
            try commit.states.entry(handle, in: transaction).flags.isSuperset(of: flags)
        {
            add(handle, for: reference)
            return handle
        }
        let handle = commit.states.makeHandle()
        add(handle, for: reference)
        if flags.contains(.lost) {
            try commit.states.set(flags, of: handle, in: transaction)
        } else {
            fresh.insert(handle)
        }
        return handle
    }

    private mutating func add(_ handle: Handle, for reference: RecordReference) {
        gone[reference] = handle
        taken.insert(handle)
    }

    /// Makes tombstones of the new handles of deleted records. By now references lead to them,
    /// without which a tombstone is removed.
    mutating func makeTombstones(in transaction: borrowing WriteTransaction) throws {
        for handle in fresh.sorted() { try commit.states.remove(handle, in: transaction) }
        fresh.removeAll()
    }
}

extension RestoredRecord.Content {
    fileprivate var values: [RestoredValue] {
        switch self {
        case .node(_, let value, _), .key(let value): [value]
        case .collection(let elements), .moreElements(let elements, _): elements
        }
    }
}
