import EspalierRecords

/// What a read asks for: of use where it misses.
struct ReadTarget: Sendable {
    let type: Any.Type
    let nameSpace: NameSpace
    let identifier: String

    static func node(_ type: Any.Type, _ identifier: String) -> ReadTarget {
        ReadTarget(type: type, nameSpace: .node, identifier: identifier)
    }

    static func key(_ type: Any.Type, _ key: String) -> ReadTarget {
        ReadTarget(type: type, nameSpace: .key, identifier: key)
    }

    /// `type` is that of the elements.
    static func collection(_ type: Any.Type, _ key: String) -> ReadTarget {
        ReadTarget(type: type, nameSpace: .collection, identifier: key)
    }
}
