import EspalierLMDB
import EspalierRecords

// Restoring goes past the merge of projections: what is given is what stands there afterwards.
extension CommitTransaction {
    /// Puts records in place of what stands under their names.
    ///
    /// Their handles are given out first, in their order, so that an export is as clustered when it
    /// is imported as it was; then those of nodes that are referred to and not there yet. Nodes go
    /// before collections, whose segments get further handles.
    func restore(
        _ records: [RestoredRecord], _ restoration: Restoration,
        in transaction: inout WriteTransaction
    ) throws {
        counts.reserveCapacity(records.count)
        var references = RestoringReferences(commit: self, restoration: restoration)
        let places = try records.map { try place($0.nameSpace, $0.identifier, in: &transaction) }
        for (record, place) in zip(records, places) where record.nameSpace == .node {
            references.bind(record.identifier, to: place.handle)
        }
        for record in records {
            for value in record.content.values {
                try references.bind(value.references, in: &transaction)
            }
        }
        var children: [Handle: [Handle]] = [:]
        var changed: [Handle] = []
        for (record, place) in zip(records, places) {
            guard case .node(let shape, let values, let isOnCycle) = record.content else {
                continue
            }
            let handles = try references.handles(
                of: values.references, over: place.old?.children ?? [], in: transaction)
            children[place.handle] = handles
            if place.old?.children != handles { changed.append(place.handle) }
            let content = Content(
                nameSpace: .node, identifier: record.identifier, shape: shape, children: handles,
                values: values.bytes[...])
            if try put(content, at: place.handle, over: place.old, in: &transaction) {
                changes.written.append(record.identifier)
            }
            if isOnCycle { try counts.set(.onCycle, of: place.handle, in: transaction) }
            try references.makeTombstones(in: transaction)
        }
        for (record, place) in zip(records, places) where record.nameSpace != .node {
            try restore(record, at: place, &references, in: &transaction)
            try references.makeTombstones(in: transaction)
        }
        try flagCycles(through: changed, children, in: transaction)
        try touchRoots(among: children.keys, in: transaction)
        restorations.append((restoration, references.gone))
    }

    /// A key or a collection.
    private func restore(
        _ record: RestoredRecord, at place: Place, _ references: inout RestoringReferences,
        in transaction: inout WriteTransaction
    ) throws {
        switch record.content {
        case .node: break
        case .key(let value):
            let handles = try references.handles(
                of: value.references, over: place.old?.children ?? [], in: transaction)
            try writeKey(
                record.identifier, value.bytes, children: handles, at: place, in: &transaction)
        case .collection(let elements), .moreElements(let elements, _):
            let written = counters.recordsWritten
            let list = place.old.flatMap { try? SegmentList($0) } ?? SegmentList()
            var editor = SegmentEditor(commit: self, list: list)
            if case .collection = record.content {
                let old = try standing(list, under: elements, in: transaction)
                let stored = try storedElements(elements, over: old, &references, in: transaction)
                try editor.replaceAll(stored, in: &transaction)
            } else {
                guard case .moreElements(_, behind: list.count) = record.content else {
                    throw CacheError.partsChanged
                }
                let stored = try storedElements(elements, over: [], &references, in: transaction)
                try editor.insert(stored, at: list.count, in: &transaction)
            }
            try finish(editor.list, record.identifier, at: place, in: &transaction)
            if counters.recordsWritten > written { changes.keys.append(record.identifier) }
        }
    }

    private func storedElements(
        _ elements: [RestoredValue], over old: [StoredElement],
        _ references: inout RestoringReferences,
        in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        var stored: [StoredElement] = []
        stored.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let children = try references.handles(
                of: element.references, over: index < old.count ? old[index].children : [],
                in: transaction)
            stored.append(StoredElement(bytes: element.bytes, children: children))
        }
        return stored
    }

    /// The elements of a collection as it is; none where `elements` name all they refer to, because
    /// nothing depends on it then.
    private func standing(
        _ list: SegmentList, under elements: [RestoredValue],
        in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        let areNamed = elements.allSatisfy { element in
            element.references.allSatisfy { if case .node = $0 { true } else { false } }
        }
        guard !areNamed else { return [] }
        var standing: [StoredElement] = []
        for segment in list.segments {
            guard let record = try readableRecord(segment.handle, in: transaction),
                let elements = try? SegmentContent.decode(record)
            else { break }
            standing += elements
        }
        return standing
    }

    /// A cycle that these records close goes through one that refers to others than before. Records
    /// that are flagged already end the search.
    private func flagCycles(
        through changed: [Handle], _ restored: [Handle: [Handle]],
        in transaction: borrowing WriteTransaction
    ) throws {
        var search = CycleSearch()
        for start in changed.sorted() {
            try search.search(from: start) { handle in
                if try counts.entry(handle, in: transaction).flags.contains(.onCycle) { return [] }
                if let children = restored[handle] { return children }
                return try readableRecord(handle, in: transaction)?.children ?? []
            }
        }
        for handle in search.found.sorted() {
            try counts.set(.onCycle, of: handle, in: transaction)
        }
    }

    /// Being restored is an access. For records reached through others only it is left out, as it
    /// is for the nodes of a tree.
    private func touchRoots(
        among handles: some Collection<Handle>, in transaction: borrowing WriteTransaction
    ) throws {
        for handle in handles where try counts.entry(handle, in: transaction).isInRecency {
            try counts.touch(handle, in: transaction)
        }
    }

    /// The transaction is committed: later writes of the same restorations use the same handles.
    func settleRestorations() {
        for (restoration, handles) in restorations { restoration.add(handles, in: generation) }
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
