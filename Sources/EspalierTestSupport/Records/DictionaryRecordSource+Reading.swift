package import EspalierModels
package import EspalierRecords

extension DictionaryRecordSource {
    /// The tree under `identifier`, or why there is none.
    package func read<Model: NormalizedModel>(
        _ identifier: String, as type: Model.Type = Model.self, limits: TreeLimits = TreeLimits()
    ) -> Result<Model, MissReason> {
        read(identifier, as: type, in: TreeReader(source: self, limits: limits))
    }

    /// The same through an treeReader of the caller's, who can ask it afterwards what it met.
    package func read<Model: NormalizedModel>(
        _ identifier: String, as type: Model.Type, in treeReader: TreeReader
    ) -> Result<Model, MissReason> {
        guard let handle = handle(of: identifier) else { return .failure(.notFound) }
        return treeReader.read(identifier) {
            try treeReader.entry(handle, identifier: identifier) {
                try Model.decodeValue(from: &$0)
            }
        }
    }

    /// The tree of a kind under `identifier`.
    package func read(
        _ identifier: String, as kind: TreeKind, limits: TreeLimits = TreeLimits()
    ) -> Result<TreeModel, MissReason> {
        switch kind {
        case .node: read(identifier, as: TypedTree<TreeTypes.Node>.self, limits: limits).map(\.tree)
        case .summary:
            read(identifier, as: TypedTree<TreeTypes.Summary>.self, limits: limits).map(\.tree)
        case .owned:
            read(identifier, as: TypedTree<TreeTypes.Owned>.self, limits: limits).map(\.tree)
        case .framed:
            read(identifier, as: TypedTree<TreeTypes.Framed>.self, limits: limits).map(\.tree)
        case .caption:
            read(identifier, as: TypedTree<TreeTypes.Caption>.self, limits: limits).map(\.tree)
        case .note: read(identifier, as: TypedTree<TreeTypes.Note>.self, limits: limits).map(\.tree)
        }
    }
}
