import Synchronization

/// How large the last tree of each type was: the next one is given as much room at once. Growing
/// moved each node of a feed once more, which took a tenth of its time.
///
/// Only the last one counts, and up to a limit: trees that wait to be written are not to hold much
/// more than they use.
final class TreeSizes: Sendable {
    struct Size {
        let nodes: Int
        let values: Int
        let children: Int
    }

    private static let leastNodes = 32
    private static let mostNodes = 1_024
    private static let mostValues = 128 << 10
    private static let mostTypes = 64

    private let last = Mutex<[Identifier: Size]>([:])

    /// What the last tree came to whose outermost node was of `type`; nil where that was little or
    /// is not known.
    func last(of type: String) -> Size? {
        last.withLock { $0.isEmpty ? nil : $0[Identifier(type)] }
    }

    func note(_ tree: FlattenedTree) {
        guard tree.count > 0 else { return }
        let type = Identifier(tree.type(at: 0))
        let size = Size(
            nodes: min(tree.count, Self.mostNodes), values: min(tree.values.count, Self.mostValues),
            children: min(tree.children.count, Self.mostNodes * 2))
        last.withLock { last in
            if tree.count < Self.leastNodes {
                if !last.isEmpty { last[type] = nil }
            } else if last.count < Self.mostTypes || last[type] != nil {
                last[type] = size
            }
        }
    }
}
