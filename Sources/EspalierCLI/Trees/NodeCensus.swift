import EspalierRecords

/// Counts the nodes that writes store, and the places where a document contradicts itself.
///
/// Follows the rule of flattening: of several objects with one identity in a write the first one in
/// pre-order counts, and the others are references to it, whatever they say.
struct NodeCensus {
    private(set) var identifiers: Set<Identifier> = []
    /// Objects that say something else than the first one of their identity.
    private(set) var contradictions = 0
    private var first: [Identifier: JSONNode] = [:]

    /// Counts what one write of `models` stores.
    mutating func add(write models: some Sequence<JSONTree>) {
        first = [:]
        for model in models { add(model) }
    }

    private mutating func add(_ tree: JSONTree) {
        switch tree {
        case .null, .bool, .number, .string: break
        case .array(let elements):
            for element in elements { add(element) }
        case .object(let node):
            if let identifier = node.modelIdentifier.map(Identifier.init) {
                if let first = first[identifier] {
                    if !first.says(sameAs: node) { contradictions += 1 }
                    return
                }
                first[identifier] = node
                identifiers.insert(identifier)
            }
            for member in node.members { add(member.value) }
        }
    }
}

extension JSONNode {
    /// Whether both would be the same record: other nodes are compared by their identifiers only.
    fileprivate func says(sameAs other: JSONNode) -> Bool {
        guard members.count == other.members.count else { return false }
        return zip(members, other.members).allSatisfy {
            $0.name.hasSameBytes(as: $1.name) && $0.value.says(sameAs: $1.value)
        }
    }
}

extension JSONTree {
    fileprivate func says(sameAs other: JSONTree) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return a == b
        case (.string(let a), .string(let b)): return a.hasSameBytes(as: b)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.says(sameAs: $1) }
        case (.object(let a), .object(let b)):
            guard let identifier = a.modelIdentifier, let otherIdentifier = b.modelIdentifier else {
                return a.modelIdentifier == nil && b.modelIdentifier == nil && a.says(sameAs: b)
            }
            return identifier.hasSameBytes(as: otherIdentifier)
        default: return false
        }
    }
}
