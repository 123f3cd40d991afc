import EspalierRecords

/// References as a digraph in the language of Graphviz.
///
/// Vertices are named by handle, which stays what it is as long as the record does. Labels hold
/// text from a cache: what Graphviz takes for an escape, an entity or a control character is
/// escaped or made visible.
struct DotGraph: Sendable {
    let graph: ReferenceGraph
    let names: [Handle: RecordName]

    var text: String {
        let edges = graph.edges
        var lines = ["digraph espalier {", "  rankdir=LR;", "  node [shape=box];"]
        for handle in Set(edges.flatMap { [$0.source, $0.target] } + [graph.start]).sorted() {
            lines.append(vertex(handle))
        }
        for edge in edges {
            let label =
                edge.path.steps.isEmpty ? "" : " [label=\(Self.quoted(edge.path.description))]"
            lines.append("  \(id(edge.source)) -> \(id(edge.target))\(label);")
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private func id(_ handle: Handle) -> String { "n\(handle.rawValue)" }

    private func vertex(_ handle: Handle) -> String {
        let name = names[handle] ?? RecordName(kind: .nothing, identifier: "")
        var attributes = ["label=\(Self.quoted(name.shown))"]
        switch name.kind {
        case .node, .segment: break
        case .key: attributes.append("shape=note")
        case .collection: attributes.append("shape=folder")
        case .deleted: attributes.append("style=dashed")
        case .lost, .damaged, .nothing: attributes.append("style=dashed, color=red")
        }
        if handle == graph.start { attributes.append("penwidth=2") }
        return "  \(id(handle)) [\(attributes.joined(separator: ", "))];"
    }

    /// Graphviz reads strings of more than some thousand characters wrong, and nobody reads them at
    /// all.
    private static let longestLabel = 80

    /// A string of the language whose text is shown as it is.
    static func quoted(_ text: String) -> String {
        let isLong = text.count > longestLabel
        let shown = isLong ? text.prefix(longestLabel - 1) + "…" : text
        var quoted = ""
        for scalar in shown.withVisibleControls.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "&": quoted += "&amp;"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted)\""
    }
}
