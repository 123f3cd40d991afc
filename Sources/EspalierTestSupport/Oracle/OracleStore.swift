package import EspalierRecords

/// The engine's semantics as a plain dictionary: records by number, identifiers to numbers, nothing
/// else.
///
/// It knows no bytes, counts no references and evicts nothing. Where the engine and the oracle
/// differ, one of them is wrong.
///
/// ```swift
/// var oracle = OracleStore()
/// oracle.write(tree)
/// #expect(oracle.read("node:1", as: .node).agrees(with: source.read("node:1", as: .node)))
/// ```
package struct OracleStore: Sendable {
    /// By number. Numbers ascend and are never used again.
    package private(set) var records: [OracleRecord] = []
    package private(set) var index: [Identifier: Int] = [:]
    package private(set) var keys: [Identifier: OracleValue] = [:]
    package internal(set) var collections: [Identifier: [OracleValue]] = [:]

    package init() {}

    // MARK: Writing

    package mutating func write(_ tree: TreeModel, policy: WritePolicy = .replace) {
        _ = flatten([tree], policy: policy)
    }

    /// Under the model's own identifier this is the node; under any other key an entry that refers
    /// to it or contains it.
    package mutating func write(
        _ tree: TreeModel, forKey key: String, policy: WritePolicy = .replace
    ) {
        let value = flatten([tree], policy: policy)[0]
        if tree.identifier.map(Identifier.init) != Identifier(key) { keys[Identifier(key)] = value }
    }

    package mutating func writeCollection(
        _ trees: [TreeModel], forKey key: String, policy: WritePolicy = .replace
    ) {
        collections[Identifier(key)] = flatten(trees, policy: policy)
    }

    mutating func flatten(_ trees: [TreeModel], policy: WritePolicy) -> [OracleValue] {
        var drafts = OracleDrafts()
        let values = trees.map { tree in
            drafts.add(tree) { identifier in number(of: identifier) }
        }
        for (number, projections) in drafts.inOrder { merge(projections, into: number, policy) }
        return values
    }

    private mutating func number(of identifier: String) -> Int {
        if let known = index[Identifier(identifier)] { return known }
        records.append(OracleRecord(identifier: identifier))
        index[Identifier(identifier)] = records.count - 1
        return records.count - 1
    }

    private mutating func merge(
        _ projections: [OracleDrafts.Projection], into number: Int, _ policy: WritePolicy
    ) {
        var record = records[number]
        if record.state != .living { record = OracleRecord(identifier: record.identifier) }
        var written: Set<String> = []
        for projection in projections {
            if policy == .replace {
                record.withdraw(projection.type, keeping: Set(projection.fields.keys))
            }
            for (name, value) in projection.fields {
                record.declarers[name, default: []].insert(projection.type)
                let isUnset = policy == .merge && value == .nothing
                if written.contains(name) || isUnset && record.fields[name] != nil { continue }
                record.fields[name] = value
                if !isUnset { written.insert(name) }
            }
        }
        records[number] = record
    }

    // MARK: Deleting and losing

    package mutating func delete(_ identifier: String) {
        guard let number = index.removeValue(forKey: Identifier(identifier)) else { return }
        records[number] = OracleRecord(identifier: identifier, state: .deleted)
    }

    package mutating func deleteKey(_ key: String) { keys[Identifier(key)] = nil }

    package mutating func deleteCollection(_ key: String) { collections[Identifier(key)] = nil }

    /// The record is found damaged; the next write of its identifier refills it.
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

extension OracleRecord {
    /// `type` no longer declares any field but `kept`.
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
