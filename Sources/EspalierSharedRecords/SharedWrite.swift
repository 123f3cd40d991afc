public import EspalierModels
public import EspalierRecords
import EspalierStore

/// A write of models that several hosts share: flattened, and merged with the records that a server
/// has.
///
/// ```swift
/// let write = try SharedWrite(setting: [issue])
/// var old = try await fetch(write.names)
/// repeat {
///     let changes = try write.changes(to: old, version: clock.next(after: newest))
/// } while try await !store(changes, ifStill: old)  // reads `old` again if another host was first
/// ```
///
/// A server applies the changes only if it still has the versions that were merged with. So no
/// update of another host is lost, whatever the rule of the merge.
public struct SharedWrite: Sendable {
    private enum Entry {
        case nodes([Int])
        case key(String, ValueDraft)
        case collection(String, SharedEdit)
        case delete([SharedName])
    }

    private let tree: FlattenedTree
    private let entry: Entry

    /// The records that the write may change, and those that it compares itself with.
    public let names: [SharedName]

    /// Makes a write that stores trees under the identifiers of their roots.
    ///
    /// - Parameters:
    ///   - models: The roots. Each must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: `FlattenError` for a model that can't be stored, or has no identifier.
    public init(
        setting models: [any IdentifiedModel], policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) throws {
        let flattener = Self.flattener(policy, of: models.first, maxAge)
        let entries = try models.map { model in
            let value = try flattener.value { try ModelStorage.encode(model, into: $0) }
            guard let entry = value.children.first else {
                throw SharedWriteError.noIdentifier(type: "\(type(of: model))")
            }
            return entry
        }
        tree = flattener.finish()
        entry = .nodes(entries)
        // A node takes the place of a key of the same name.
        let keys = entries.map { [tree] in SharedName(.key, tree.entries[$0].identifier) }
        names = Self.nodes(of: tree) + keys
    }

    /// Makes a write that stores a tree under a key.
    ///
    /// - Parameters:
    ///   - model: The root. If it has an identifier, the key refers to its node.
    ///   - key: The key; not empty, and not the model's identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: `FlattenError` for a model that can't be stored.
    public init(
        setting model: any IdentifiedModel, forKey key: String, policy: WritePolicy? = nil,
        maxAge: Duration? = nil
    ) throws {
        guard !key.isEmpty else { throw SharedWriteError.emptyKey }
        let flattener = Self.flattener(policy, of: model, maxAge)
        let value = try flattener.value { try ModelStorage.encode(model, into: $0) }
        tree = flattener.finish()
        entry = .key(key, value)
        names = Self.nodes(of: tree) + [SharedName(.key, key)]
    }

    /// Makes a write that changes a collection.
    ///
    /// - Parameters:
    ///   - change: The change; `.replaceAll` makes the collection if there is none.
    ///   - key: The key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: `FlattenError` for a model that can't be stored.
    public init(
        _ change: SharedCollectionChange, toCollection key: String, policy: WritePolicy? = nil,
        maxAge: Duration? = nil
    ) throws {
        guard !key.isEmpty else { throw SharedWriteError.emptyKey }
        let flattener = Self.flattener(policy, of: change.elements.first, maxAge)
        func draft(_ model: any IdentifiedModel) throws -> ValueDraft {
            try flattener.value { try ModelStorage.encode(model, into: $0) }
        }
        let edit: SharedEdit =
            switch change {
            case .replaceAll(let elements): .replaceAll(try elements.map(draft))
            case .edit(let edit, let neighbours): .edit(try edit.map(draft), neighbours)
            case .move(let source, let destination, let neighbours):
                .move(source, destination, neighbours)
            }
        tree = flattener.finish()
        entry = .collection(key, edit)
        names = Self.nodes(of: tree) + [SharedName(.collection, key)]
    }

    /// Makes a write that replaces the elements of a collection, and leaves the records of some
    /// elements as the servers have them.
    ///
    /// - Parameters:
    ///   - elements: The elements. The collection is made if there is none.
    ///   - key: The key; not empty.
    ///   - stored: The identifiers of elements that the servers have. The collection refers to
    ///     them; their models are not written.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    /// - Throws: `FlattenError` for a model that can't be stored.
    public init(
        replacingAll elements: [any IdentifiedModel], ofCollection key: String,
        keeping stored: Set<Identifier>, policy: WritePolicy? = nil
    ) throws {
        guard !key.isEmpty else { throw SharedWriteError.emptyKey }
        let flattener = Self.flattener(policy, of: elements.first, nil)
        let kept = elements.map { element in
            element.modelIdentifier.flatMap { stored.contains(Identifier($0)) ? $0 : nil }
        }
        func draft(_ model: any IdentifiedModel) throws -> ValueDraft {
            try flattener.value { try ModelStorage.encode(model, into: $0) }
        }
        var drafts: [ValueDraft?] = []
        for (element, kept) in zip(elements, kept) {
            drafts.append(kept == nil ? try draft(element) : nil)
        }
        var tree = flattener.finish()
        for (index, identifier) in kept.enumerated() {
            guard let identifier else { continue }
            drafts[index] = ValueDraft(node: tree.count + tree.storedNodes.count)
            tree.storedNodes.append(identifier)
        }
        self.tree = tree
        entry = .collection(key, .replaceAll(drafts.compactMap(\.self)))
        names = Self.nodes(of: tree) + [SharedName(.collection, key)]
    }

    /// Makes a write that deletes records. References to a deleted node read as nil, or are left
    /// out of arrays. A record that the server does not have gets a tombstone, too: the server may
    /// have evicted it, and hosts still have copies.
    ///
    /// - Parameter names: The names of the records.
    public init(deleting names: [SharedName]) {
        tree = FlattenedTree()
        entry = .delete(names)
        self.names = names
    }

    private static func flattener(
        _ policy: WritePolicy?, of root: (any IdentifiedModel)?, _ maxAge: Duration?
    ) -> Flattener {
        let flattener = Flattener(shapes: interner)
        flattener.policy = TreePolicy(
            policy, root: root.map { type(of: $0).writePolicy } ?? .replace)
        flattener.maxAge = maxAge
        return flattener
    }

    private static let interner = ShapeInterner()

    private static func nodes(of tree: FlattenedTree) -> [SharedName] {
        tree.entries.map { SharedName(.node, $0.identifier) }
    }

    // MARK: - Changes

    /// Whether `changes` needs to know which elements of the collection were deleted: an edit
    /// counts those that a read returns.
    ///
    /// - Parameter old: The records that a server has.
    /// - Returns: The names of the elements to look up; empty if none has to be.
    public func elementsToCount(in old: [SharedName: SharedRecord]) -> [SharedName] {
        guard case .collection(let key, let edit) = entry,
            let record = old[SharedName(.collection, key)], !record.isTombstone
        else { return [] }
        if case .replaceAll = edit { return [] }
        let count = try? ByteReader.reading(record.values) { try $0.readArrayCount() }
        // With all elements there, none was deleted.
        if let neighbours = edit.neighbours, count == neighbours.count { return [] }
        return record.children.map { SharedName(.node, $0) }
    }

    /// Returns the records that the write changes, as they are after it. Records that it leaves
    /// equal are not among them.
    ///
    /// - Parameters:
    ///   - old: The records that a server has under ``names``. Names without a record are left out.
    ///   - deleted: The identifiers of the deleted nodes among the elements of a collection.
    ///   - version: The version of the records.
    /// - Throws: `SharedWriteError.outOfDate` for an edit of a collection that is not as its sender
    ///   expects, and `.outOfRange` for an index outside of it.
    public func changes(
        to old: [SharedName: SharedRecord], deleted: Set<String> = [], version: RecordVersion
    ) throws -> [SharedName: SharedRecord] {
        var merge = SharedMerge(tree, old, version)
        try merge.addNodes()
        switch entry {
        case .nodes(let entries):
            for entry in entries { merge.deleteKey(tree.entries[entry].identifier) }
        case .key(let key, let value):
            try merge.add(
                SharedName(.key, key), values: value.bytes, children: value.children,
                maxAge: tree.maxAge)
        case .collection(let key, let edit):
            try merge.apply(edit, toCollection: key, deleted: deleted)
        case .delete(let names): for name in names { merge.delete(name) }
        }
        return merge.changes
    }

    /// Returns the shapes of records, each once, with the bytes under which a server keeps them.
    ///
    /// - Parameter records: The records.
    public static func shapes(
        of records: some Sequence<SharedRecord>
    ) -> [(fingerprint: UInt64, description: [UInt8])] {
        var shapes: Set<Shape> = []
        for record in records where !record.shape.types.isEmpty { shapes.insert(record.shape) }
        return shapes.map { ($0.fingerprint, $0.description) }
    }
}

/// A change of a shared collection.
public enum SharedCollectionChange: Sendable {
    /// Replaces all elements, and makes the collection if there is none.
    case replaceAll([any IdentifiedModel])
    /// Applies an edit if the elements around it are those that the sender expects; nil to apply it
    /// in any case.
    case edit(CollectionEdit<any IdentifiedModel>, expecting: CollectionNeighbours?)
    /// Moves one element to the index that it has afterwards, under the same condition. Its model
    /// stays as it is.
    case move(from: Int, to: Int, expecting: CollectionNeighbours?)

    fileprivate var elements: [any IdentifiedModel] {
        switch self {
        case .replaceAll(let elements): elements
        case .edit(let edit, _): edit.elements
        case .move: []
        }
    }
}

/// A change of a shared collection whose models are flattened.
private enum SharedEdit: Sendable {
    case replaceAll([ValueDraft])
    case edit(CollectionEdit<ValueDraft>, CollectionNeighbours?)
    case move(Int, Int, CollectionNeighbours?)

    /// The elements that the sender of the change expects.
    var neighbours: CollectionNeighbours? {
        switch self {
        case .replaceAll: nil
        case .edit(_, let neighbours), .move(_, _, let neighbours): neighbours
        }
    }
}

/// Why a shared write can't be made.
public enum SharedWriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A model of the type has no identifier, and is not stored under a key.
    case noIdentifier(type: String)
    /// The key is empty.
    case emptyKey
    /// The collection is not the one that the sender of the edit has.
    case outOfDate
    /// An index is outside of the collection, which has `count` elements.
    case outOfRange(count: Int)
    /// There is no such collection.
    case noCollection

    /// The error in words.
    public var description: String {
        switch self {
        case .noIdentifier(let type):
            "A model of type \(type) has no identifier. Set it under a key."
        case .emptyKey: "A key must not be empty."
        case .outOfDate: "The collection has changed since the sender of the edit read it."
        case .outOfRange(let count): "The index is outside of the collection of \(count) elements."
        case .noCollection: "There is no such collection. Set it before you edit it."
        }
    }
}

/// One merge of a write with the records of a server.
private struct SharedMerge {
    private let tree: FlattenedTree
    private let old: [SharedName: SharedRecord]
    private let version: RecordVersion
    private(set) var changes: [SharedName: SharedRecord] = [:]

    // Handles that are valid during the merge alone: those of the tree's nodes come first.
    private var nodes: [String] = []
    private var handles: [Identifier: Handle] = [:]
    /// The handles of the nodes to which the tree refers by name.
    private var storedHandles: [Handle] = []

    init(
        _ tree: FlattenedTree, _ old: [SharedName: SharedRecord], _ version: RecordVersion
    ) {
        self.tree = tree
        self.old = old
        self.version = version
        for entry in tree.entries { _ = handle(of: entry.identifier) }
        for identifier in tree.storedNodes {
            let handle = handle(of: identifier)
            storedHandles.append(handle)
        }
    }

    private mutating func handle(of identifier: String) -> Handle {
        if let known = handles[Identifier(identifier)] { return known }
        nodes.append(identifier)
        let handle = Handle(UInt64(nodes.count))
        handles[Identifier(identifier)] = handle
        return handle
    }

    private func identifier(of handle: Handle) -> String { nodes[Int(handle.rawValue) - 1] }

    private func living(_ name: SharedName) -> SharedRecord? {
        old[name].flatMap { $0.isTombstone ? nil : $0 }
    }

    mutating func addNodes() throws {
        let treeHandles = tree.entries.indices.map { Handle(UInt64($0) + 1) }
        for (index, entry) in tree.entries.enumerated() {
            let name = SharedName(.node, entry.identifier)
            let stored = living(name)
            let record = stored.map { stored in
                Record(
                    identifier: entry.identifier, shape: stored.shape,
                    children: stored.children.map { handle(of: $0) },
                    values: Array(stored.values))
            }
            let merge = try RecordMerge(
                index, of: tree, into: record, handles: treeHandles)
            put(
                SharedRecord(
                    version, maxAge: tree.maxAge(at: index), isOnCycle: entry.isOnCycle,
                    shape: merge.shape, children: merge.children.map(identifier),
                    values: Array(merge.values)),
                name)
        }
    }

    /// Adds a record without fields. `children` are nodes of the tree.
    mutating func add(
        _ name: SharedName, values: [UInt8], children: [Int], maxAge: UInt64?
    ) throws {
        put(
            SharedRecord(
                version, maxAge: maxAge, isOnCycle: false, shape: .none,
                children: children.map { nodes[$0] }, values: values),
            name)
    }

    /// Notes a tombstone, unless the server has one. The server may have evicted the record while
    /// hosts have copies of it, and only a commit makes these outdated.
    mutating func delete(_ name: SharedName) {
        guard old[name]?.isTombstone != true else { return }
        changes[name] = SharedRecord(tombstone: version)
    }

    /// Deletes the key whose place the node of the same name takes, if the server has it. Nearly
    /// all nodes have no such key, and get no tombstone for it.
    mutating func deleteKey(_ key: String) {
        let name = SharedName(.key, key)
        if living(name) != nil { delete(name) }
    }

    /// Notes a record, unless the server has its equal. A record that expires is always written,
    /// because its age begins anew.
    private mutating func put(_ record: SharedRecord, _ name: SharedName) {
        if let stored = living(name), record.maxAge == nil, stored.maxAge == nil,
            stored.shape == record.shape, stored.values == record.values,
            stored.children.elementsEqual(record.children, by: { $0.utf8.elementsEqual($1.utf8) })
        {
            return
        }
        changes[name] = record
    }

    // MARK: Collections

    mutating func apply(
        _ edit: SharedEdit, toCollection key: String, deleted: Set<String>
    ) throws {
        let name = SharedName(.collection, key)
        let stored = living(name)
        var elements: [StoredElement] = []
        if let stored {
            let targets = stored.children.map { handle(of: $0) }
            elements = try SegmentContent.decode(Array(stored.values), children: targets)
        }
        switch edit {
        case .replaceAll(let drafts): elements = drafts.map(element)
        case .edit(let edit, let neighbours):
            guard stored != nil || edit.range == nil && (neighbours?.count ?? 0) == 0 else {
                throw neighbours == nil ? SharedWriteError.noCollection : .outOfDate
            }
            remove(deleted, from: &elements)
            let range = edit.range ?? elements.count..<elements.count
            try check(neighbours, around: range, elements)
            elements.replaceSubrange(range, with: edit.elements.map(element))
        case .move(let source, let destination, let neighbours):
            guard stored != nil else {
                throw neighbours == nil ? SharedWriteError.noCollection : .outOfDate
            }
            remove(deleted, from: &elements)
            guard elements.indices.contains(source), elements.indices.contains(destination) else {
                throw neighbours == nil
                    ? SharedWriteError.outOfRange(count: elements.count) : .outOfDate
            }
            try check(neighbours, around: source..<source + 1, elements)
            elements.insert(elements.remove(at: source), at: destination)
        }
        let (children, values) = try SegmentContent.encode(elements)
        // An edit leaves the list how old it may be.
        var maxAge = tree.maxAge
        if case .replaceAll = edit {} else { maxAge = stored?.maxAge ?? maxAge }
        put(
            SharedRecord(
                version, maxAge: maxAge, isOnCycle: false, shape: .none,
                children: children.map(identifier), values: values),
            name)
    }

    /// Removes the elements that refer to deleted nodes.
    private func remove(_ deleted: Set<String>, from elements: inout [StoredElement]) {
        let gone = Set(deleted.compactMap { handles[Identifier($0)] })
        elements.removeAll { $0.target.map(gone.contains) ?? false }
    }

    private func element(_ draft: ValueDraft) -> StoredElement {
        StoredElement(
            bytes: draft.bytes,
            children: draft.children.map { node in
                node < tree.count ? Handle(UInt64(node) + 1) : storedHandles[node - tree.count]
            })
    }

    /// Throws unless the elements around an edit are those that its sender has.
    private func check(
        _ neighbours: CollectionNeighbours?, around range: Range<Int>, _ elements: [StoredElement]
    ) throws {
        let isInside = range.lowerBound >= 0 && range.upperBound <= elements.count
        guard let neighbours else {
            guard isInside else { throw SharedWriteError.outOfRange(count: elements.count) }
            return
        }
        func name(_ index: Int) -> Identifier? {
            guard elements.indices.contains(index) else { return nil }
            return elements[index].target.map { Identifier(identifier(of: $0)) }
        }
        let index = range.lowerBound
        guard isInside, neighbours.count == elements.count,
            neighbours.previous.map(Identifier.init) == name(index - 1),
            neighbours.current.map(Identifier.init) == name(index),
            neighbours.next.map(Identifier.init) == name(index + 1)
        else { throw SharedWriteError.outOfDate }
    }
}
