package import EspalierRecords

/// A record as it is to stand in a cache, whatever stood under its name: what an export says of it.
package struct RestoredRecord: Sendable {
    package enum Content: Sendable {
        /// The values of the shape's fields, one after the other.
        case node(Shape, RestoredValue, isOnCycle: Bool)
        case key(RestoredValue)
        case collection([RestoredValue])
        /// Elements to stand behind the first ones of a collection, which may be too large for a
        /// single write. Refused where it has another number of them by now.
        case moreElements([RestoredValue], behind: Int)
    }

    /// The node's identifier, the key, or the collection's key.
    package let identifier: String
    package let content: Content

    package init(_ identifier: String, _ content: Content) {
        self.identifier = identifier
        self.content = content
    }
}

/// Encoded values whose children are named: ordinal 2 in the bytes is `references[2]`.
package struct RestoredValue: Sendable, Equatable {
    package let bytes: [UInt8]
    package let references: [RecordReference]

    package init(bytes: [UInt8], references: [RecordReference]) {
        self.bytes = bytes
        self.references = references
    }
}

extension RestoredRecord {
    package var nameSpace: NameSpace {
        switch content {
        case .node: .node
        case .key: .key
        case .collection, .moreElements: .collection
        }
    }

    /// About the bytes that storing it takes.
    package var byteCount: Int {
        let own = identifier.utf8.count + 24
        return switch content {
        case .node(_, let values, _): own + values.byteCount
        case .key(let value): own + value.byteCount
        case .collection(let elements), .moreElements(let elements, _):
            elements.reduce(own) { $0 + $1.byteCount }
        }
    }
}

extension RestoredValue {
    /// About the bytes it takes as stored, where a reference is a few bytes and not a name.
    package var byteCount: Int { bytes.count + references.count * 4 }
}
