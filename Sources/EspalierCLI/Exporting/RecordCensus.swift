import EspalierRecords
import EspalierStore

/// What the lines of an import name, and what they refer to: whether they can be stored as a whole.
struct RecordCensus {
    /// What takes most room in a single write.
    struct Largest {
        let bytes: Int
        let place: LinePlace
        /// Of a collection, which is stored in parts.
        let isElement: Bool
    }

    private(set) var count = 0
    private(set) var largest: Largest?
    private var names: [NameSpace: Set<Identifier>] = [:]
    /// Nodes that were referred to, where and when first, and that had no line so far.
    private var missing: [Identifier: (place: LinePlace, order: Int)] = [:]
    private var references = 0

    mutating func add(_ record: RestoredRecord, at place: LinePlace) throws(CommandFailure) {
        let name = Identifier(record.identifier)
        guard names[record.nameSpace, default: []].insert(name).inserted else {
            throw CommandFailure(
                "\(place): there is another line of the \(record.kindName) \(name)")
        }
        count += 1
        if record.nameSpace == .node { missing[name] = nil }
        let bytes = record.largestElement ?? record.byteCount
        if bytes > largest?.bytes ?? 0 {
            largest = Largest(
                bytes: bytes, place: place, isElement: record.nameSpace == .collection)
        }
        for case .node(let identifier) in record.references {
            let target = Identifier(identifier)
            guard names[.node]?.contains(target) != true, missing[target] == nil else { continue }
            references += 1
            missing[target] = (place, references)
        }
    }

    /// The nodes referred to that have no line, and from where first, in the order of lines.
    var unresolved: [(identifier: String, place: LinePlace)] {
        missing.sorted { $0.value.order < $1.value.order }.map { ($0.key.string, $0.value.place) }
    }
}

extension RestoredRecord {
    /// The bytes of a collection's largest element; nil for other records.
    fileprivate var largestElement: Int? {
        guard case .collection(let elements) = content else { return nil }
        return elements.map(\.byteCount).max() ?? 0
    }

    fileprivate var kindName: String {
        switch nameSpace {
        case .node, .segment: "node"
        case .key: "key"
        case .collection: "collection"
        }
    }

    fileprivate var references: [RecordReference] {
        switch content {
        case .node(_, let value, _), .key(let value): value.references
        case .collection(let elements), .moreElements(let elements, _):
            elements.flatMap(\.references)
        }
    }
}
