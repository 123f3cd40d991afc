import EspalierModels
package import EspalierRecords

/// A tree model read and written as one certain kind.
///
/// Example: `TypedTree<TreeTypes.Summary>` reads the summary of a record whatever wrote it.
package struct TypedTree<Type: TreeType>: NormalizedModel, Hashable {
    package let tree: TreeModel

    package init(_ tree: TreeModel) {
        precondition(tree.kind == Type.kind, "a \(tree.kind) is no \(Type.kind)")
        self.tree = tree
    }

    package var modelIdentifier: String? { tree.identifier }
    package var projectionIdentifier: String { Type.kind.rawValue }

    package func encode(to encoder: inout RecordEncoder) throws { try tree.encode(to: &encoder) }

    package init(from decoder: inout RecordDecoder) throws {
        tree = try TreeModel(kind: Type.kind, from: &decoder)
    }
}
