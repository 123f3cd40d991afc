/// What a write came to.
struct WriteSummary: Sendable, Equatable {
    let models: Int
    /// With different identifiers.
    let nodes: Int
    /// Nodes whose record changed or is new.
    let written: Int
    /// Objects that say something else of a node than the first one of its identity, which counts.
    let contradictions: Int

    var unchanged: Int { nodes - written }
}

extension WriteSummary: Printable {
    var table: Table {
        let titles = ["models", "nodes", "written", "unchanged", "contradictions"]
        var table = Table(columns: titles.map { .right($0) })
        table.append([models, nodes, written, unchanged, contradictions].map(String.init))
        return table
    }

    var json: JSONValue {
        [
            "models": .number(JSONNumber(models)), "nodes": .number(JSONNumber(nodes)),
            "nodesWritten": .number(JSONNumber(written)), "nodesUnchanged": .number(JSONNumber(unchanged)),
            "contradictions": .number(JSONNumber(contradictions)),
        ]
    }
}
