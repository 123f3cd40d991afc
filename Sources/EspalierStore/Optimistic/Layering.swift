import EspalierLMDB
import EspalierRecords

// Optimistic changes are layers over the records. The records themselves have the layers applied;
// `LayerTable` has what they are without.
//
//     confirmed record ---- layer 1 ---- layer 4 ----> the record that reads see
//
// Whatever changes a confirmed record goes the same way, see `changeBelowLayers`:
//
//     1. lift     the records concerned become what is confirmed
//     2. change   a write, or the writes of a layer that is confirmed
//     3. keep     what they are now is what is confirmed
//     4. lay      their layers are applied again, in order
//
// A layer is applied again to the records concerned, and to no other record that it writes. If only
// layers have made a record, lifting it removes the record and leaves the name its handle, so that
// references to it stay.
//
// A confirmed record is never lost, whatever becomes of the layers. A layer is never lost before it
// is confirmed or rolled back, unless its bytes are damaged or the whole cache begins anew. One
// transaction does all steps, so a crash leaves the state before or after them. No step waits.
extension CommitTransaction {
    /// Applies one operation; below the layers of the records that it changes and that have some.
    func applyBelowLayers(
        _ operation: WriteOperation, in transaction: inout WriteTransaction
    ) throws {
        if layers.isDamaged { try repairLayers(in: &transaction) }
        let names = layers.isEmpty ? [] : try layeredNames(of: operation, in: transaction)
        guard !names.isEmpty else { return try applyToRecords(operation, in: &transaction) }
        try changeBelowLayers(names, in: &transaction) { transaction in
            try applyToRecords(operation, in: &transaction)
        }
    }

    /// Makes, confirms or rolls back an optimistic change.
    func apply(_ step: OptimisticStep, in transaction: inout WriteTransaction) throws {
        switch step {
        case .apply(let identifier, let sections):
            try addLayer(identifier, sections, in: &transaction)
        case .confirm(let identifier, let sections):
            try confirm(
                try pendingLayer(identifier), as: sections ?? [], replacesChange: sections != nil,
                in: &transaction)
        case .rollBack(let identifier):
            try rollBack(try pendingLayer(identifier), in: &transaction)
        }
        pins.setLayerEntries(try transaction.statistics(of: keyspaces.layers).entries)
    }

    /// Ends a layer, and writes what is confirmed: its own writes unless `answer` replaces them,
    /// then the answer. Without a layer only writes the answer.
    ///
    /// The layer's own writes must not fail because a list has changed: an operation that the
    /// server has done could then never be removed.
    func confirm(
        _ layer: Layer?, as answer: [BatchSection], replacesChange: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        let own = try replacesChange ? [] : layer?.sections ?? []
        let names = try layeredNames(of: .batch(own + answer), in: transaction)
        if let layer { try layers.remove(layer, in: &transaction) }
        try changeBelowLayers(names.union(layer?.names ?? []), in: &transaction) { transaction in
            if !own.isEmpty { try apply(own, clamps: true, in: &transaction) }
            if own.isEmpty || !answer.isEmpty { try apply(answer, in: &transaction) }
        }
    }

    /// Ends a layer as if it had never been.
    func rollBack(_ layer: Layer, in transaction: inout WriteTransaction) throws {
        try layers.remove(layer, in: &transaction)
        try changeBelowLayers(Set(layer.names), in: &transaction) { _ in }
    }

    private func pendingLayer(_ identifier: String) throws -> Layer {
        guard let layer = layers.layer(identifier) else { throw CacheError.noChange }
        return layer
    }

    // MARK: - A new layer

    /// How many bytes layers and outboxes may take: an eighth of the budget.
    static func layerLimit(for budget: ByteCount) -> Int { budget.bytes / 8 }

    /// Throws if layers and outboxes take more than they may.
    func checkLayerLimit(adding byteCount: Int = 0) throws {
        guard layers.byteCount + byteCount <= Self.layerLimit(for: generation.budget) else {
            throw CacheError.optimisticFull(generation.budget)
        }
    }

    /// Adds a layer.
    ///
    /// - Parameter clamps: Whether its edits of collections were made for earlier states of these.
    func addLayer(
        _ identifier: String, _ sections: [BatchSection], clamps: Bool = false,
        in transaction: inout WriteTransaction
    ) throws {
        guard layers.layer(identifier) == nil else { throw CacheError.pendingChange }
        let names = try names(of: .batch(sections), in: transaction)
        func layer(_ sections: [BatchSection]) throws -> Layer {
            try Layer(
                number: layers.nextNumber, identifier, madeAt: WriteTime(now),
                names: names.sorted { $0.precedes($1) }, sections)
        }
        // Before anything is written, so that no record is evicted for a change that is refused.
        try checkLayerLimit(adding: layer(sections).encodedSections.count)
        let before = changes
        let shown = try contents(of: names, in: &transaction)
        for name in names { try storeConfirmed(name, shown[name] ?? .init(), in: &transaction) }
        let kept = try apply(sections, clamps: clamps, isChange: true, in: &transaction)
        for name in names { try finish(name, in: &transaction) }
        try layers.insert(layer(kept), in: &transaction)
        try checkLayerLimit()
        try report(names, shown, since: before, in: &transaction)
    }

    /// Stores what a name leads to as confirmed, and makes sure that the name has its handle.
    private func storeConfirmed(
        _ name: RecordName, _ confirmed: ConfirmedRecord, in transaction: inout WriteTransaction
    ) throws {
        if let layered = layers.records[name] {
            return try reserve(name, layered.handle, in: &transaction)
        }
        let handle = try handle(of: name, in: &transaction)
        try layers.set(confirmed, of: name, at: handle, in: &transaction)
        try retain(handle, confirmed, in: transaction)
    }

    /// Returns the handle of a name. Gives the name one that waits for a write if it has none, or
    /// if the index leads to the record of another name, of which it holds the beginning.
    private func handle(
        of name: RecordName, in transaction: inout WriteTransaction
    ) throws -> Handle {
        let identifier = name.identifier.string
        if let match = try index.match(name.nameSpace, identifier, in: transaction.snapshot) {
            if let record = try readableRecord(match.handle) {
                if record.isNamed(identifier, in: name.nameSpace) { return match.handle }
            } else if try isCertain(match, name.nameSpace, identifier, in: transaction) {
                return match.handle
            } else {
                // As in `slot`: the record may be that of another name, and must not be filled.
                try index.removeEntry(
                    name.nameSpace, identifier, of: match.handle, in: &transaction)
                try loseUnnamed(match.handle, in: &transaction)
            }
        }
        let handle = index.rebind(name.nameSpace, identifier, isWhole: true)
        try states.reserve(handle, in: transaction)
        return handle
    }

    /// Adds a reference to a record and to the children of what is confirmed, as a pin does.
    private func retain(
        _ handle: Handle, _ confirmed: ConfirmedRecord, in transaction: borrowing WriteTransaction
    ) throws {
        try states.retain(handle, in: transaction)
        let children = confirmed.content?.children ?? []
        for child in children { try states.retain(child, in: transaction) }
        try pins.add([handle] + children) { try readableRecord($0) }
        try checkPinnedCost(limit: pinLimit, of: generation.budget, in: transaction)
    }

    // MARK: - A change below layers

    /// Runs `change` with the records of `names` as they are confirmed, and then applies their
    /// layers again.
    private func changeBelowLayers(
        _ names: Set<RecordName>, in transaction: inout WriteTransaction,
        _ change: (inout WriteTransaction) throws -> Void
    ) throws {
        let before = changes
        let shown = try contents(of: names, in: &transaction)
        for name in names { try lift(name, in: &transaction) }
        changes = before
        try change(&transaction)
        for name in names { try keep(name, in: &transaction) }
        let own = changes
        for layer in layers.layers(of: names) {
            try lay(layer, on: names, in: &transaction)
        }
        for name in names { try finish(name, in: &transaction) }
        changes = own
        try report(names, shown, since: before, in: &transaction)
        for name in names where layers.records[name]?.layers.isEmpty == true {
            try release(name, in: &transaction)
        }
    }

    /// Makes a record what is confirmed.
    private func lift(_ name: RecordName, in transaction: inout WriteTransaction) throws {
        guard let layered = layers.records[name] else { return }
        let identifier = name.identifier.string
        guard let content = layered.confirmed.content else {
            return try empty(name, layered.handle, in: &transaction)
        }
        try reserve(name, layered.handle, in: &transaction)
        if name.nameSpace == .collection {
            try replaceElements(
                of: identifier,
                with: SegmentContent.decode(content.values, children: content.children),
                in: &transaction)
        } else {
            let record = RecordContent(
                nameSpace: name.nameSpace, identifier: identifier, shape: content.shape,
                children: content.children, values: content.values[...])
            try put(
                record, at: try slot(name.nameSpace, identifier, in: &transaction), in: &transaction
            )
        }
        try states.setTimes(
            layered.handle, writtenAt: layered.confirmed.writtenAt,
            maxAge: layered.confirmed.maxAge,
            in: transaction)
    }

    private func replaceElements(
        of key: String, with elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        let slot = try slot(.collection, key, in: &transaction)
        var editor = SegmentEditor(self, slot.old.flatMap { try? SegmentList($0) } ?? SegmentList())
        try editor.replaceAll(elements, in: &transaction)
        try CollectionWriter(self).write(editor.list, key, at: slot, in: &transaction)
    }

    /// Removes a record and leaves its name with its handle, which waits for a write.
    private func empty(
        _ name: RecordName, _ handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        let identifier = name.identifier.string
        if let record = try namedRecord(name, in: transaction), record.handle == handle {
            if name.nameSpace == .collection {
                try replaceElements(of: identifier, with: [], in: &transaction)
            }
            let record = try readableRecord(handle) ?? record
            try moveReferences(of: handle, from: record.children, to: [], in: &transaction)
            try erase(record, in: &transaction)
        }
        try reserve(name, handle, in: &transaction)
    }

    /// Gives a name its handle back if it has none, because its record was deleted.
    private func reserve(
        _ name: RecordName, _ handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        let match = try index.match(
            name.nameSpace, name.identifier.string, in: transaction.snapshot)
        if let match, match.handle == handle { return }
        if try namedRecord(name, in: transaction) != nil { return }
        index.restoreEntry(name.nameSpace, name.identifier.string, of: handle)
        try states.reserve(handle, in: transaction)
    }

    /// Gives those nodes of a tree their handles back that an earlier step has deleted, if layers
    /// apply to them: references to them stay.
    func reserveLayeredNodes(
        of tree: FlattenedTree, among names: Set<RecordName>?,
        in transaction: inout WriteTransaction
    ) throws {
        for entry in tree.entries {
            let name = RecordName(.node, entry.identifier)
            guard let layered = layers.records[name], names?.contains(name) ?? true else {
                continue
            }
            try reserve(name, layered.handle, in: &transaction)
        }
    }

    /// Stores what a record is now as what is confirmed.
    private func keep(_ name: RecordName, in transaction: inout WriteTransaction) throws {
        guard let layered = layers.records[name] else { return }
        let confirmed = try content(of: name, in: &transaction)
        let handle = try namedRecord(name, in: transaction)?.handle ?? layered.handle
        try layers.set(confirmed, of: name, at: handle, in: &transaction)
        // Retains before it releases, so that no count reaches zero in between.
        try retain(handle, confirmed, in: transaction)
        try releaseReferences(of: layered, in: transaction)
        if handle == layered.handle { try reserve(name, handle, in: &transaction) }
    }

    private func releaseReferences(
        of layered: LayerTable.LayeredRecord, in transaction: borrowing WriteTransaction
    ) throws {
        for handle in [layered.handle] + (layered.confirmed.content?.children ?? []) {
            try states.release(handle, in: transaction)
            if try states.entry(handle, in: transaction).referenceCount > 0 {
                suspectSplit(at: handle)
            }
        }
    }

    /// Deletes the name of a record that no write has filled. Follows a record that has got another
    /// handle, because a write has deleted it and another has made it anew.
    private func finish(_ name: RecordName, in transaction: inout WriteTransaction) throws {
        guard let layered = layers.records[name] else { return }
        let identifier = name.identifier.string
        if let record = try namedRecord(name, in: transaction) {
            guard record.handle != layered.handle else { return }
            try layers.set(layered.confirmed, of: name, at: record.handle, in: &transaction)
            try states.retain(record.handle, in: transaction)
            return try states.release(layered.handle, in: transaction)
        }
        let match = try index.match(name.nameSpace, identifier, in: transaction.snapshot)
        guard let match, match.handle == layered.handle else { return }
        try index.removeEntry(name.nameSpace, identifier, of: layered.handle, in: &transaction)
        try discardUnreadable(layered.handle, in: &transaction)
        try states.remove(layered.handle, in: transaction)
    }

    /// Lets a record go to which no layer applies any more. A record that is not there leaves
    /// nothing behind but a tombstone, if others refer to it.
    private func release(_ name: RecordName, in transaction: inout WriteTransaction) throws {
        guard let layered = layers.records[name] else { return }
        if layered.confirmed.content == nil {
            try unpin(name.nameSpace, name.identifier.string, in: &transaction)
        }
        try layers.removeRecord(name, in: &transaction)
        try releaseReferences(of: layered, in: transaction)
    }

    // MARK: - Damage

    /// Puts the records together anew after an entry could not be read. A layer that can't be read
    /// is lost: its records become what they are without it, the change set lists them, and an
    /// event tells how many layers and operations are lost.
    /// Confirming it fails with `notFound`. A record whose confirmed state can't be read stays as
    /// it is.
    private func repairLayers(in transaction: inout WriteTransaction) throws {
        contentChanges.changeAnything()
        needsRecount = true
        changes.lost = layers.lost
        let unknown = Set(layers.layers.values.flatMap(\.names)).subtracting(layers.records.keys)
        for name in unknown {
            let confirmed = try content(of: name, in: &transaction)
            let handle = try handle(of: name, in: &transaction)
            try layers.set(confirmed, of: name, at: handle, in: &transaction)
        }
        try layers.rewrite(in: &transaction)
        try changeBelowLayers(Set(layers.records.keys), in: &transaction) { _ in }
        pins.setLayerEntries(try transaction.statistics(of: keyspaces.layers).entries)
    }
}

// MARK: - The writes of a layer

extension CommitTransaction {
    /// Applies the writes of an optimistic change again: to those of `names` that it writes, and to
    /// no other record. An edit does what it can where the collection has changed.
    func lay(
        _ layer: Layer, on names: Set<RecordName>, in transaction: inout WriteTransaction
    ) throws {
        for section in try layer.sections {
            let tree = section.tree
            let known = tree.entries.map {
                layers.records[RecordName(.node, $0.identifier)]?.handle ?? Handle(0)
            }
            let nodes = tree.entries.indices.filter {
                names.contains(RecordName(.node, tree.entries[$0].identifier))
            }
            try reserveLayeredNodes(of: tree, among: names, in: &transaction)
            let handles = try TreeWriter(self).rewrite(
                nodes, of: tree, handles: known, in: &transaction)
            entryMaxAge = tree.maxAge ?? maxAge
            for step in section.steps {
                try lay(step, of: tree, on: names, handles, in: &transaction)
            }
        }
    }

    private func lay(
        _ step: BatchSection.Step, of tree: FlattenedTree, on names: Set<RecordName>,
        _ handles: [Handle], in transaction: inout WriteTransaction
    ) throws {
        switch step {
        case .root(let root):
            let identifier = tree.entries[root].identifier
            if names.contains(RecordName(.key, identifier)) {
                try delete(.key, identifier, in: &transaction)
            }
        case .key(let key, let value):
            guard names.contains(RecordName(.key, key)) else { return }
            try writeKey(key, value, handles, in: &transaction)
        case .collection(let key, let operation):
            let name = RecordName(.collection, key)
            guard names.contains(name) else { return }
            try CollectionWriter(self).apply(
                operation, toCollection: key, expecting: nil, clamps: true, handles: handles,
                in: &transaction)
        case .delete(let name):
            guard names.contains(name) else { return }
            try delete(name.nameSpace, name.identifier.string, in: &transaction)
        }
    }
}
