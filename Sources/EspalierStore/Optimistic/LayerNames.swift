import EspalierLMDB
import EspalierRecords

// Which records an operation changes, and what they are.
extension CommitTransaction {
    /// Returns the names of the records that an operation changes and to which layers apply.
    func layeredNames(
        of operation: WriteOperation, in transaction: borrowing WriteTransaction
    ) throws -> Set<RecordName> {
        try names(of: operation, in: transaction).filter { layers.records[$0] != nil }
    }

    /// Returns the names of the records that an operation writes or deletes.
    func names(
        of operation: WriteOperation, in transaction: borrowing WriteTransaction
    ) throws -> Set<RecordName> {
        var names: Set<RecordName> = []
        switch operation.content {
        case .nodes(let tree, let roots, _):
            names.formUnion(tree.names)
            for root in roots {
                try addKey(tree.entries[root].identifier, to: &names, in: transaction)
            }
        case .key(let key, _, let tree, _):
            names.formUnion(tree.names)
            names.insert(RecordName(.key, key))
        case .collection(let key, _, let tree, _, _):
            names.formUnion(tree.names)
            names.insert(RecordName(.collection, key))
        case .batch(let sections):
            for section in sections { try add(section, to: &names, in: transaction) }
        case .delete(let deleted):
            names.formUnion(deleted)
        case .restore(let records, _):
            for record in records { names.insert(RecordName(record.nameSpace, record.identifier)) }
        default: break
        }
        return names
    }

    private func add(
        _ section: BatchSection, to names: inout Set<RecordName>,
        in transaction: borrowing WriteTransaction
    ) throws {
        names.formUnion(section.tree.names)
        for step in section.steps {
            switch step {
            case .root(let index):
                try addKey(section.tree.entries[index].identifier, to: &names, in: transaction)
            case .key(let key, _): names.insert(RecordName(.key, key))
            case .collection(let key, _): names.insert(RecordName(.collection, key))
            case .delete(let name):
                names.insert(name)
            }
        }
    }

    /// Adds the key that has the name of a node, if there is one: a write of the node deletes it.
    private func addKey(
        _ identifier: String, to names: inout Set<RecordName>,
        in transaction: borrowing WriteTransaction
    ) throws {
        let name = RecordName(.key, identifier)
        if try layers.records[name] != nil || namedRecord(name, in: transaction) != nil {
            names.insert(name)
        }
    }

    // MARK: Records

    /// Returns the record of a name; nil if there is none or if it can't be read.
    func namedRecord(
        _ name: RecordName, in transaction: borrowing WriteTransaction
    ) throws -> Record? {
        let identifier = name.identifier.string
        guard let match = try index.match(name.nameSpace, identifier, in: transaction.snapshot),
            let record = try readableRecord(match.handle),
            record.isNamed(identifier, in: name.nameSpace)
        else { return nil }
        return record
    }

    func contents(
        of names: Set<RecordName>, in transaction: inout WriteTransaction
    ) throws -> [RecordName: ConfirmedRecord] {
        var contents: [RecordName: ConfirmedRecord] = [:]
        for name in names { contents[name] = try content(of: name, in: &transaction) }
        return contents
    }

    /// Returns what a name leads to. A collection of which a part can't be read counts as missing.
    func content(
        of name: RecordName, in transaction: inout WriteTransaction
    ) throws -> ConfirmedRecord {
        var confirmed = ConfirmedRecord()
        guard let record = try namedRecord(name, in: transaction) else { return confirmed }
        let state = try states.entry(record.handle, in: transaction)
        (confirmed.writtenAt, confirmed.maxAge) = (state.writtenAt, state.expiry)
        guard name.nameSpace == .collection else {
            confirmed.content = .init(
                shape: record.shape, children: record.children, values: record.values)
            return confirmed
        }
        guard let list = try? SegmentList(record),
            let elements = try? SegmentEditor(self, list).elements(0..<list.count, in: transaction),
            elements.count == list.count
        else { return ConfirmedRecord() }
        let content = try SegmentContent.encode(elements)
        confirmed.content = .init(children: content.children, values: content.values)
        return confirmed
    }

    // MARK: What changes

    /// Lists the records of `names` in the change set if they differ from `shown`, and takes the
    /// other ones off it. `before` is the change set as it was before the operation.
    ///
    /// The changes have no source, so that the screen which submitted the operation reads them as
    /// well: the cache has the layers on top of what the screen shows. A screen has shown its own
    /// write on other screens already. So after a write of a screen, each record that layers change
    /// is listed even if it is as before: all screens must read it again.
    func report(
        _ names: Set<RecordName>, _ shown: [RecordName: ConfirmedRecord],
        since before: ChangeSet, in transaction: inout WriteTransaction
    ) throws {
        let source = changes.source
        defer { changes.source = source }
        changes.source = 0
        let deleted = Set(changes.deleted.dropFirst(before.deleted.count).map(Identifier.init))
        changes.withdraw(names, notIn: before)
        for name in names {
            let new = try content(of: name, in: &transaction).content
            let isChanged = layers.records[name].map { $0.confirmed.content != new } ?? false
            // A screen that deletes a node has removed it from all screens. They must read it again
            // if a layer keeps it.
            let isStillThere =
                name.nameSpace == .node && new != nil && deleted.contains(name.identifier)
            guard source != 0 && isChanged || new != shown[name]?.content || isStillThere else {
                continue
            }
            let identifier = name.identifier.string
            if name.nameSpace != .node {
                changes.change(key: identifier, in: name.nameSpace)
            } else if new == nil {
                changes.delete(identifier)
            } else {
                changes.write(identifier)
            }
        }
    }
}

extension FlattenedTree {
    /// The names of the nodes.
    var names: some Collection<RecordName> {
        entries.lazy.map { RecordName(.node, $0.identifier) }
    }
}

extension RecordName {
    /// An order in which layers list their names.
    func precedes(_ other: RecordName) -> Bool {
        nameSpace == other.nameSpace
            ? identifier.string.utf8.lexicographicallyPrecedes(other.identifier.string.utf8)
            : nameSpace.rawValue < other.nameSpace.rawValue
    }
}
