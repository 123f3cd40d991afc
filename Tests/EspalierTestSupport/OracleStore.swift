package import EspalierRecords

/// The engine's semantics as a plain dictionary: records by number, and numbers by identifier.
///
/// The oracle has no bytes, counts no references and evicts nothing. Where the engine and the
/// oracle differ, one of them is wrong.
///
/// ```swift
/// var oracle = OracleStore()
/// oracle.write(tree)
/// #expect(oracle.read("node:1", as: .node).agrees(with: source.read("node:1", as: .node)))
/// ```
package struct OracleStore: Sendable {
    /// The records, by number. Numbers ascend and are never used again.
    package private(set) var records: [OracleRecord] = []
    package private(set) var index: [Identifier: Int] = [:]
    package private(set) var keys: [Identifier: OracleValue] = [:]
    package private(set) var collections: [Identifier: [OracleValue]] = [:]

    package init() {}

    // MARK: Writing

    package mutating func write(_ tree: TreeModel, policy: TreePolicy = .replace) {
        _ = flatten([tree], policy: policy)
    }

    /// Writes the node, if `key` is the model's own identifier; otherwise an entry that refers to
    /// the node or contains it.
    package mutating func write(
        _ tree: TreeModel, forKey key: String, policy: TreePolicy = .ofTypes
    ) {
        let value = flatten([tree], policy: policy)[0]
        if tree.identifier.map(Identifier.init) != Identifier(key) { keys[Identifier(key)] = value }
    }

    package mutating func writeCollection(
        _ trees: [TreeModel], forKey key: String, policy: TreePolicy = .ofTypes
    ) {
        collections[Identifier(key)] = flatten(trees, policy: policy)
    }

    private mutating func flatten(_ trees: [TreeModel], policy: TreePolicy) -> [OracleValue] {
        var drafts = OracleDrafts(policy: policy)
        let values = trees.map { tree in
            drafts.add(tree) { identifier in number(of: identifier) }
        }
        for (number, projections) in drafts.inOrder { merge(projections, into: number) }
        return values
    }

    private mutating func number(of identifier: String) -> Int {
        if let known = index[Identifier(identifier)] { return known }
        records.append(OracleRecord(identifier: identifier))
        index[Identifier(identifier)] = records.count - 1
        return records.count - 1
    }

    private mutating func merge(
        _ projections: [OracleDrafts.Projection], into number: Int
    ) {
        var record = records[number]
        if record.state != .living { record = OracleRecord(identifier: record.identifier) }
        var written: Set<String> = []
        // Fields that are nil because a projection was replaced: one that merges may fill them.
        var cleared: Set<String> = []
        for projection in projections {
            if !projection.merges {
                record.withdraw(projection.type, keeping: Set(projection.fields.keys))
            }
            for (name, value) in projection.fields {
                record.declarers[name, default: []].insert(projection.type)
                let isUnset = projection.merges && value == .nothing
                let isFilled = projection.merges && !isUnset && cleared.contains(name)
                if written.contains(name), !isFilled { continue }
                if isUnset, record.fields[name] != nil { continue }
                record.fields[name] = value
                if isUnset { continue }
                written.insert(name)
                if value == .nothing { cleared.insert(name) } else { cleared.remove(name) }
            }
        }
        records[number] = record
    }

    /// Returns the number of elements of a collection, deleted ones not counted; nil when there is
    /// no collection under `key`.
    package func countOfCollection(_ key: String) -> Int? {
        collections[Identifier(key)].map { $0.count { !isDeleted($0) } }
    }

    /// Writes `trees`, and applies `edit` to the collection's elements without deleted ones. `edit`
    /// also receives the elements for `trees`.
    package mutating func editCollection(
        _ key: String, with trees: [TreeModel] = [],
        _ edit: (inout [OracleValue], [OracleValue]) -> Void
    ) {
        let values = flatten(trees, policy: .ofTypes)
        var elements = (collections[Identifier(key)] ?? []).filter { !isDeleted($0) }
        edit(&elements, values)
        collections[Identifier(key)] = elements
    }

    /// Returns whether an element refers to a deleted record. An inline element never does.
    private func isDeleted(_ element: OracleValue) -> Bool {
        guard case .reference(let number) = element else { return false }
        return records[number].state == .deleted
    }

    // MARK: Deleting and losing

    package mutating func delete(_ identifier: String) {
        guard let number = index.removeValue(forKey: Identifier(identifier)) else { return }
        records[number] = OracleRecord(identifier: identifier, state: .deleted)
    }

    package mutating func deleteKey(_ key: String) { keys[Identifier(key)] = nil }

    package mutating func deleteCollection(_ key: String) { collections[Identifier(key)] = nil }

    /// Makes the record one that was found damaged. The next write of its identifier refills it.
    package mutating func lose(_ identifier: String) {
        guard let number = index[Identifier(identifier)] else { return }
        records[number] = OracleRecord(identifier: identifier, state: .lost)
    }

    // MARK: Reading

    package func read(_ identifier: String, as kind: TreeKind) -> OracleOutcome<TreeModel> {
        guard let number = index[Identifier(identifier)] else { return .miss(.notFound) }
        return outcome { reader throws(OracleMiss) in try reader.model(.reference(number), as: kind)
        }
    }

    package func read(key: String, as kind: TreeKind) -> OracleOutcome<TreeModel> {
        guard let value = keys[Identifier(key)] else { return read(key, as: kind) }
        return outcome { reader throws(OracleMiss) in try reader.model(value, as: kind) }
    }

    package func readCollection(_ key: String, as kind: TreeKind) -> OracleOutcome<[TreeModel]> {
        guard let values = collections[Identifier(key)] else { return .miss(.notFound) }
        return outcome { reader throws(OracleMiss) in try reader.elements(values, as: kind) }
    }

    private func outcome<Value>(
        _ body: (inout OracleReader) throws(OracleMiss) -> Value
    ) -> OracleOutcome<Value> {
        var reader = OracleReader(records: records)
        do {
            let value = try body(&reader)
            return .hit(value, isCut: reader.isCut)
        } catch {
            return .miss(error)
        }
    }
}

/// One record of the oracle.
package struct OracleRecord: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case living
        case deleted
        case lost
    }

    package let identifier: String
    package var state = State.living
    package var fields: [String: OracleValue] = [:]
    /// The types that declare each field.
    package var declarers: [String: Set<String>] = [:]

    /// Removes `type` from the declarers of all fields except `kept`.
    fileprivate mutating func withdraw(_ type: String, keeping kept: Set<String>) {
        for name in fields.keys where !kept.contains(name) {
            declarers[name]?.remove(type)
            if declarers[name]?.isEmpty ?? true {
                fields[name] = nil
                declarers[name] = nil
            }
        }
    }
}

/// The content of a field of a record, in its plainest form.
package indirect enum OracleValue: Hashable, Sendable {
    /// Set to nil.
    case nothing
    case scalar(TreeScalar)
    /// A node: the number of its record.
    case reference(Int)
    /// A model without an identifier.
    case inline([String: OracleValue])
    case list([OracleValue])
    case entries([String: OracleValue])
}

/// The content of each node in the trees of one write: for each identifier and projection, the
/// first occurrence in pre-order; in a write that merges, the fields of all occurrences, of which
/// the first that is set counts.
struct OracleDrafts {
    struct Projection {
        let type: String
        let merges: Bool
        /// In the order in which they begin.
        fileprivate var occurrences: [[String: OracleValue]]

        var fields: [String: OracleValue] {
            occurrences.reduce(into: [:]) { fields, later in
                fields.merge(later) { $0 == .nothing ? $1 : $0 }
            }
        }
    }

    let policy: TreePolicy
    private var order: [Int] = []
    private var drafts: [Int: [Projection]] = [:]

    init(policy: TreePolicy) { self.policy = policy }

    var inOrder: [(number: Int, projections: [Projection])] { order.map { ($0, drafts[$0] ?? []) } }

    /// Adds `tree` and returns its content in its parent: its number, or its fields when it has no
    /// identifier.
    mutating func add(_ tree: TreeModel, number: (String) -> Int) -> OracleValue {
        guard let identifier = tree.identifier else { return .inline(fields(of: tree, number)) }
        let record = number(identifier)
        let type = tree.kind.rawValue
        if drafts[record] == nil { order.append(record) }
        let known = drafts[record]?.firstIndex { $0.type == type }
        let merges = policy == .merge || policy == .ofTypes && tree.kind.merges
        guard known == nil || merges else { return .reference(record) }
        // The occurrence gets its place before its fields are walked, because the node may stand
        // among its own descendants.
        let place = known ?? drafts[record]?.count ?? 0
        if known == nil {
            drafts[record, default: []].append(
                Projection(type: type, merges: merges, occurrences: []))
        }
        let occurrence = drafts[record]?[place].occurrences.count ?? 0
        drafts[record]?[place].occurrences.append([:])
        let fields = fields(of: tree, number)
        drafts[record]?[place].occurrences[occurrence] = fields
        return .reference(record)
    }

    private mutating func fields(of tree: TreeModel, _ number: (String) -> Int) -> [String:
        OracleValue]
    {
        var result: [String: OracleValue] = [:]
        result[TreeKind.identifierField] = tree.identifier.map { .scalar(.string($0)) } ?? .nothing
        for field in tree.kind.fields {
            switch tree.values[field.name] {
            case .scalar(let scalar): result[field.name] = scalar.map { .scalar($0) } ?? .nothing
            case .child(let child):
                result[field.name] = child.map { add($0, number: number) } ?? .nothing
            case .array(let children):
                result[field.name] = .list(children.map { add($0, number: number) })
            case .nested(let rows):
                result[field.name] = .list(rows.map { .list($0.map { add($0, number: number) }) })
            case .dictionary(let entries):
                var values: [String: OracleValue] = [:]
                for (key, child) in TreeValue.ordered(entries) {
                    values[key] = add(child, number: number)
                }
                result[field.name] = .entries(values)
            case nil: break
            }
        }
        return result
    }
}
