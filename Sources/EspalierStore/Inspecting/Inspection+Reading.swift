package import EspalierRecords

extension Inspection {
    /// What a read of an entry comes to in this snapshot, as `NormalizedCache` would read it, a key
    /// falling back to the node of its name. It is no access, and counted in no statistics.
    package func outcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ nameSpace: NameSpace, _ identifier: String, limits: TreeLimits
    ) throws -> ReadOutcome<[Model]> {
        let reader = SnapshotReader(generation: generation, snapshot: snapshot, limits: limits)
        do {
            return try ReadScope.run {
                switch nameSpace {
                case .collection: return try reader.collection(type, forKey: identifier)
                case .key: return try reader.model(type, forKey: identifier).asArray
                case .node, .segment: return try reader.node(type, identifier).asArray
                }
            }
        } catch let reason as MissReason {
            return .miss(reason)
        }
    }
}

extension ReadOutcome {
    fileprivate var asArray: ReadOutcome<[Value]> {
        switch self {
        case .hit(let hit):
            .hit(Hit(value: [hit.value], isCut: hit.isCut, recordCount: hit.recordCount))
        case .miss(let reason): .miss(reason)
        }
    }
}
