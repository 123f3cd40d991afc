/// What an update changed in one listener's tree, by identifier.
///
/// A node changed if it was replaced, or if something below it was. A node was deleted if it was
/// itself, or if it can't be without a child that was. Nodes that came with a replaced parent are
/// in neither.
public struct ModelUpdates: Hashable, Sendable {
    public var changedModelIds: Set<String>
    public var deletedModelIds: Set<String>

    public init(changedModelIds: Set<String> = [], deletedModelIds: Set<String> = []) {
        self.changedModelIds = changedModelIds
        self.deletedModelIds = deletedModelIds
    }

    package var isEmpty: Bool { changedModelIds.isEmpty && deletedModelIds.isEmpty }

    package mutating func formUnion(_ other: ModelUpdates) {
        changedModelIds.formUnion(other.changedModelIds)
        deletedModelIds.formUnion(other.deletedModelIds)
    }
}
