import EspalierModels
public import EspalierRecords
public import Foundation

// A server answers most requests with JSON. These reads write it straight from records, so no model
// is made and none is encoded.
extension NormalizedCache {
    /// Returns the tree of a node as JSON. Blocks the calling thread.
    ///
    /// ```swift
    /// let body = cache.json(of: "Feed:1", leavingOut: ["messages.sender.email"])
    /// ```
    ///
    /// The text is what `JSONEncoder` with its default strategies writes for the `Codable` model:
    /// members have their stored names, dates are seconds since 2001, bytes are Base64. Sixteen
    /// bytes are written as a UUID. A reference to a deleted node, or back to a node that contains
    /// it, is left out.
    ///
    /// The JSON differs from that of `JSONEncoder` in these cases. Records do not know the types of
    /// values, so a dictionary is always an object, and a relative `URL` is an array of its text
    /// and its base. `JSONEncoder` writes an array for a dictionary whose keys are not strings or
    /// `Int`s. Nil values of a dictionary are left out, as nil properties are, and so is a null
    /// ``Field``. The JSON of a model that encodes itself as a single value or a list has that
    /// value as its member `$value`. A number that is NaN or infinite is null, where `JSONEncoder`
    /// throws.
    ///
    /// - Parameters:
    ///   - identifier: The node's identifier.
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - type: The type whose fields of the node to write; nil for the fields of all types. It
    ///     is known by its name.
    ///   - paths: Members to leave out, by their names with dots between. Elements of arrays have
    ///     the path of their array.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    /// - Returns: The JSON text in UTF-8; nil for a miss.
    /// - Complexity: O(*n*) in the records of the tree. A node that occurs again is copied.
    public func json(
        of identifier: String, depth: Int = .max, as type: (any IdentifiedModel.Type)? = nil,
        leavingOut paths: [String] = [], includesNulls: Bool = false,
        consistency: Consistency = .latest, access: Access = .touch
    ) -> Data? {
        let options = JSONTreeOptions(depth, type, paths, includesNulls)
        return outcome(
            .node(type ?? JSONDocument.self, identifier).accepting(.stale), consistency, access
        ) {
            try $0.json(of: identifier, options, into: &$1)
        }.value.map { Data($0) }
    }

    /// Returns the tree of a node as JSON, which it writes on another thread.
    ///
    /// - Parameters:
    ///   - identifier: The node's identifier.
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - type: The type whose fields of the node to write; nil for the fields of all types.
    ///   - paths: Members to leave out, by their names with dots between.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    /// - Returns: The JSON text in UTF-8; nil for a miss.
    public func json(
        of identifier: String, depth: Int = .max, as type: (any IdentifiedModel.Type)? = nil,
        leavingOut paths: [String] = [], includesNulls: Bool = false,
        consistency: Consistency = .latest, access: Access = .touch
    ) async -> Data? {
        let options = JSONTreeOptions(depth, type, paths, includesNulls)
        return await outcome(
            .node(type ?? JSONDocument.self, identifier).accepting(.stale), consistency, access
        ) {
            try $0.json(of: identifier, options, into: &$1)
        }.value.map { Data($0) }
    }

    /// Returns a collection, or a part of it, as a JSON array. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - range: The indexes of the elements. A range that reaches behind the end is cut off.
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - paths: Members of the elements to leave out, by their names with dots between.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    /// - Returns: The JSON text in UTF-8; nil for a miss.
    /// - Complexity: O(*n*) in the records of the elements.
    public func json(
        ofCollection key: String, range: Range<Int> = 0..<Int.max, depth: Int = .max,
        leavingOut paths: [String] = [], includesNulls: Bool = false,
        consistency: Consistency = .latest, access: Access = .touch
    ) -> Data? {
        let options = JSONTreeOptions(depth, nil, paths, includesNulls)
        return outcome(.collection(JSONDocument.self, key).accepting(.stale), consistency, access) {
            try $0.json(ofCollection: key, in: range, options, into: &$1)
        }.value.map { Data($0) }
    }

    /// Returns a collection, or a part of it, as a JSON array, which it writes on another thread.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - range: The indexes of the elements. A range that reaches behind the end is cut off.
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - paths: Members of the elements to leave out, by their names with dots between.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    /// - Returns: The JSON text in UTF-8; nil for a miss.
    public func json(
        ofCollection key: String, range: Range<Int> = 0..<Int.max, depth: Int = .max,
        leavingOut paths: [String] = [], includesNulls: Bool = false,
        consistency: Consistency = .latest, access: Access = .touch
    ) async -> Data? {
        let options = JSONTreeOptions(depth, nil, paths, includesNulls)
        return await outcome(
            .collection(JSONDocument.self, key).accepting(.stale), consistency, access
        ) {
            try $0.json(ofCollection: key, in: range, options, into: &$1)
        }.value.map { Data($0) }
    }
}

extension NormalizedCache {
    /// Returns a node or a collection as JSON, and whether a record of it has expired.
    package func jsonOutcome(
        _ nameSpace: NameSpace, _ identifier: String, _ options: JSONTreeOptions,
        accepting freshness: Freshness
    ) -> ReadOutcome<[UInt8]> {
        outcome(
            Self.target(nameSpace, identifier).accepting(freshness), .latest, .touch
        ) { try $0.json(nameSpace, identifier, options, into: &$1) }
    }

    /// Returns a node or a collection as JSON, and tells the nodes of the tree.
    package func namedJSON(
        _ nameSpace: NameSpace, _ identifier: String, _ options: JSONTreeOptions,
        accepting freshness: Freshness
    ) -> ReadOutcome<NamedValue<[UInt8]>> {
        namedOutcome(Self.target(nameSpace, identifier).accepting(freshness)) { reader, json in
            try reader.json(nameSpace, identifier, options, into: &json)
        }
    }

    /// Returns the names of the expired records in a node or a collection.
    package func expiredNames(
        inJSON options: JSONTreeOptions, _ nameSpace: NameSpace, _ identifier: String
    ) -> ReadOutcome<[(nameSpace: NameSpace, identifier: String)]> {
        outcome(Self.target(nameSpace, identifier).accepting(.stale), .latest, .peek) {
            reader, names in
            try reader.noteExpired(into: &names) {
                var json: [UInt8]?
                return try reader.json(nameSpace, identifier, options, into: &json).reason
            }
        }
    }

    private static func target(_ nameSpace: NameSpace, _ identifier: String) -> ReadTarget {
        ReadTarget(type: JSONDocument.self, nameSpace: nameSpace, identifier: identifier)
    }
}

extension SnapshotReader {
    fileprivate func json(
        _ nameSpace: NameSpace, _ identifier: String, _ options: JSONTreeOptions,
        into json: inout [UInt8]?
    ) throws -> ReadOutcome<Void> {
        nameSpace == .collection
            ? try self.json(ofCollection: identifier, in: 0..<Int.max, options, into: &json)
            : try self.json(of: identifier, options, into: &json)
    }
}

/// Stands in statistics for the type of a read that makes no model.
private enum JSONDocument {}

extension JSONTreeOptions {
    fileprivate init(
        _ depth: Int, _ type: (any IdentifiedModel.Type)?, _ paths: [String], _ includesNulls: Bool
    ) {
        self.init()
        self.depth = max(0, depth)
        self.type = type.map { TypeName.of($0) }
        excluded = JSONPaths(paths)
        writesNulls = includesNulls
    }
}
