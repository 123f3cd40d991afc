/// What the trees of one write say about each node: per identifier and projection, the first
/// occurrence in pre-order.
struct OracleDrafts {
    struct Projection {
        let type: String
        var fields: [String: OracleValue] = [:]
    }

    private var order: [Int] = []
    private var drafts: [Int: [Projection]] = [:]

    var inOrder: [(number: Int, projections: [Projection])] { order.map { ($0, drafts[$0] ?? []) } }

    /// What stands for `tree` in its parent: its number, or its fields when it has no identifier.
    mutating func add(_ tree: TreeModel, number: (String) -> Int) -> OracleValue {
        guard let identifier = tree.identifier else { return .inline(fields(of: tree, number)) }
        let record = number(identifier)
        let type = tree.kind.rawValue
        if drafts[record] == nil { order.append(record) }
        guard drafts[record]?.contains(where: { $0.type == type }) != true else {
            return .reference(record)
        }
        // Its place is taken before its fields are walked, because it may stand among its own
        // descendants.
        let place = drafts[record]?.count ?? 0
        drafts[record, default: []].append(Projection(type: type))
        let fields = fields(of: tree, number)
        drafts[record]?[place].fields = fields
        return .reference(record)
    }

    private mutating func fields(of tree: TreeModel, _ number: (String) -> Int) -> [String:
        OracleValue]
    {
        var result: [String: OracleValue] = [:]
        result[TreeKind.identifierField] = tree.identifier.map { .scalar(.string($0)) } ?? .nothing
        for field in tree.kind.fields {
            switch tree.values[field.name] {
            case .scalar(let scalar): result[field.name] = scalar.map { .scalar($0) } ?? .nothing
            case .child(let child):
                result[field.name] = child.map { add($0, number: number) } ?? .nothing
            case .array(let children):
                result[field.name] = .list(children.map { add($0, number: number) })
            case .nested(let rows):
                result[field.name] = .list(rows.map { .list($0.map { add($0, number: number) }) })
            case .dictionary(let entries):
                var values: [String: OracleValue] = [:]
                for (key, child) in TreeValue.ordered(entries) {
                    values[key] = add(child, number: number)
                }
                result[field.name] = .entries(values)
            case nil: break
            }
        }
        return result
    }
}
