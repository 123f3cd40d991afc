#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The kind and the identifier of a record.
struct RecordName: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case node, key, collection
        /// A run of the elements of a collection, without an identifier of its own.
        case segment
        /// A deleted record that others still refer to. It has no identifier.
        case deleted
        case lost, damaged
        /// No record: a reference to it dangles.
        case nothing = "dangling"
    }

    let kind: Kind
    /// Empty if there is none.
    let identifier: String
}

extension RecordName.Kind {
    init(_ nameSpace: NameSpace) {
        self =
            switch nameSpace {
            case .node: .node
            case .key: .key
            case .collection: .collection
            case .segment: .segment
            }
    }
}

extension RecordName {
    init(_ record: Record) {
        identifier = record.identifier
        kind = Kind(record.nameSpace)
    }

    init(_ stored: StoredRecord) {
        switch stored {
        case .record(let record): self.init(record)
        case .deleted: self.init(kind: .deleted, identifier: "")
        case .lost: self.init(kind: .lost, identifier: "")
        case .damaged: self.init(kind: .damaged, identifier: "")
        case .nothing: self.init(kind: .nothing, identifier: "")
        }
    }

    /// The name for a person. A record without an identifier is its kind in parentheses.
    var shown: String {
        switch kind {
        case .node: identifier
        case .key, .collection: "\(kind.rawValue) \(identifier)"
        case .segment, .deleted, .lost, .damaged, .nothing: "(\(kind.rawValue))"
        }
    }

    var style: TextStyle {
        switch kind {
        case .node, .key, .collection, .segment: .name
        case .deleted: .faint
        case .lost, .damaged, .nothing: .bad
        }
    }

    var cell: Cell { .text(shown, style) }
}

/// The names of records by handle. Looks each record up once.
struct RecordNames {
    private let inspection: Inspection
    private var known: [Handle: RecordName] = [:]

    init(_ inspection: Inspection) { self.inspection = inspection }

    subscript(handle: Handle) -> RecordName {
        mutating get throws {
            if let name = known[handle] { return name }
            let name = RecordName(try inspection.record(handle))
            known[handle] = name
            return name
        }
    }
}

/// The name of an entry of the index, as a user gives it on the command line.
///
/// Nodes, keys and collections have a name space each.
struct EntryName: Sendable, CustomStringConvertible {
    let nameSpace: NameSpace
    /// The identifier or key, without its name space.
    let text: String

    static func node(_ identifier: String) -> EntryName {
        EntryName(nameSpace: .node, text: identifier)
    }

    static func collection(_ key: String) -> EntryName {
        EntryName(nameSpace: .collection, text: key)
    }

    static func key(_ key: String) -> EntryName { EntryName(nameSpace: .key, text: key) }

    var description: String { nameSpace == .node ? text : "\(nameSpace) \(text)" }
}

extension WriteTicket {
    /// Waits for the write of `entry`. Throws a failure that names the entry.
    @MainActor
    func committed(for entry: EntryName) async throws(CommandFailure) {
        do {
            try await committed
        } catch {
            throw CommandFailure("\(entry): \(error)")
        }
    }
}

extension Inspection {
    /// Returns the index entry of `name`. A key under which nothing was stored stands for the node
    /// with that identifier.
    ///
    /// - Returns: The entry, or nil if the cache has none of that name.
    func entry(named name: EntryName) throws -> IndexEntry? {
        if let entry = try self.entry(of: name.text, in: name.nameSpace) { return entry }
        return name.nameSpace == .key ? try self.entry(of: name.text, in: .node) : nil
    }

    /// Returns the failure for a name that the cache does not have. The message says in which other
    /// name space the name exists.
    ///
    /// - Parameters:
    ///   - consequence: What the command did not do, as in ", nothing was evicted".
    ///   - keyFindsNode: Whether the command looks for a node, too, if there is no key of the name.
    func notFound(
        _ entry: EntryName, _ consequence: String = "", keyFindsNode: Bool = true
    ) throws -> CommandFailure {
        let other: [(nameSpace: NameSpace, hint: String)] = [
            (.node, "; a node has that name"),
            (.collection, "; a collection has that name: --collection"),
            (.key, "; a key has that name: --key"),
        ]
        let hint = try other.first { other in
            if other.nameSpace == entry.nameSpace
                || keyFindsNode && other.nameSpace == .node && entry.nameSpace == .key
            {
                return false
            }
            return try handle(of: entry.text, in: other.nameSpace) != nil
        }
        return CommandFailure(
            "\(entry): not found\(consequence)\(hint?.hint ?? "")", kind: .miss)
    }
}
#endif
