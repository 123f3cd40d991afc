package import EspalierRecords

/// Where in a tree a read stops, or does without something.
package struct TreePlace: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        // Every read of the tree is a miss.
        case damaged, lost, dangling
        // A read is a miss where the type can't do without the value.
        case deleted, cyclic
        /// Deeper than reads go by default.
        case tooDeep

        /// Whether no type can be read over it.
        package var isFinal: Bool { self == .damaged || self == .lost || self == .dangling }
    }

    package let kind: Kind
    /// As a miss has it: `Message:34.sender`.
    package let path: String
    /// What the reference there leads to.
    package let handle: Handle
    /// Of damage: what is wrong.
    package var detail: String?
}
