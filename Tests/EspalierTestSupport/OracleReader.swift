package import EspalierRecords

/// One read of the oracle: the rules for references as a walk that keeps no models.
struct OracleReader {
    let records: [OracleRecord]
    private(set) var isCut = false
    private var path: [Int] = []

    init(records: [OracleRecord]) { self.records = records }

    mutating func model(_ value: OracleValue, as kind: TreeKind) throws(OracleMiss) -> TreeModel {
        switch value {
        case .reference(let number): return try node(number, as: kind)
        case .inline(let fields): return try model(fields, as: kind)
        default: throw .undecodable
        }
    }

    private mutating func node(_ number: Int, as kind: TreeKind) throws(OracleMiss) -> TreeModel {
        if path.contains(number) {
            isCut = true
            throw .cut
        }
        switch records[number].state {
        case .deleted: throw .deleted
        case .lost: throw .lost
        case .living: break
        }
        path.append(number)
        defer { path.removeLast() }
        return try model(records[number].fields, as: kind)
    }

    private mutating func model(_ fields: [String: OracleValue], as kind: TreeKind)
        throws(OracleMiss) -> TreeModel
    {
        var identifier: String?
        if case .scalar(.string(let string)) = fields[TreeKind.identifierField] {
            identifier = string
        }
        var values: [String: TreeValue] = [:]
        for field in kind.fields {
            values[field.name] = try self.value(fields[field.name], of: field.content)
        }
        return TreeModel(kind: kind, identifier: identifier, values: values)
    }

    private mutating func value(
        _ value: OracleValue?, of content: TreeKind.Content
    ) throws(OracleMiss) -> TreeValue {
        switch (content, value) {
        case (.scalar, .scalar(let scalar)): return .scalar(scalar)
        case (.optionalScalar, .scalar(let scalar)): return .scalar(scalar)
        case (.optionalScalar, .nothing), (.optionalScalar, nil): return .scalar(nil)
        case (.optional, .nothing), (.optional, nil): return .child(nil)
        case (.optional(let kind), .some(let value)): return .child(try leavingOut(value, kind))
        case (.required(let kind), .some(let value)): return .child(try required(value, kind))
        case (.array(let kind), .list(let list)): return .array(try elements(list, as: kind))
        case (.nested(let kind), .list(let rows)): return .nested(try self.rows(rows, kind))
        case (.dictionary(let kind), .entries(let entries)):
            return .dictionary(try self.entries(entries, kind))
        default: throw .undecodable
        }
    }

    /// Reads a model; nil if it is deleted or refers back.
    private mutating func leavingOut(_ value: OracleValue, _ kind: TreeKind) throws(OracleMiss)
        -> TreeModel?
    {
        do {
            return try model(value, as: kind)
        } catch {
            if error == .deleted || error == .cut { return nil }
            throw error
        }
    }

    /// Reads a required model. If it is deleted, the model that requires it counts as deleted; if
    /// it refers back, the read is a miss.
    private mutating func required(_ value: OracleValue, _ kind: TreeKind) throws(OracleMiss)
        -> TreeModel
    {
        do {
            return try model(value, as: kind)
        } catch {
            throw error == .cut ? .cyclic : error
        }
    }

    mutating func elements(_ list: [OracleValue], as kind: TreeKind) throws(OracleMiss)
        -> [TreeModel]
    {
        var result: [TreeModel] = []
        for value in list {
            if let element = try leavingOut(value, kind) { result.append(element) }
        }
        return result
    }

    private mutating func rows(_ rows: [OracleValue], _ kind: TreeKind) throws(OracleMiss)
        -> [[TreeModel]]
    {
        var result: [[TreeModel]] = []
        for row in rows {
            guard case .list(let list) = row else { throw .undecodable }
            result.append(try elements(list, as: kind))
        }
        return result
    }

    private mutating func entries(
        _ entries: [String: OracleValue], _ kind: TreeKind
    ) throws(OracleMiss) -> [String: TreeModel] {
        var result: [String: TreeModel] = [:]
        for (key, value) in TreeValue.ordered(entries) { result[key] = try leavingOut(value, kind) }
        return result
    }
}

/// The result that a read has to give.
package enum OracleOutcome<Value: Equatable & Sendable>: Equatable, Sendable {
    case hit(Value, isCut: Bool)
    case miss(OracleMiss)

    /// Returns whether a read of the engine gave this result. Of misses only the reasons are
    /// compared, not the paths.
    package func agrees(with result: Result<Value, MissReason>) -> Bool {
        switch (self, result) {
        case (.hit(let expected, _), .success(let value)): expected == value
        // The oracle does not tell a field that lacks a value from one with another type's.
        case (.miss(.undecodable), .failure(.incomplete)): true
        case (.miss(let expected), .failure(let reason)): expected.rawValue == reason.name
        default: false
        }
    }
}

/// The reason why a read has to be a miss, by the names of ``MissReason``.
package enum OracleMiss: String, Error, Hashable, Sendable {
    case notFound, deleted, lost, dangling, cyclic, undecodable
    /// A back reference, which never leaves the oracle.
    case cut
}
