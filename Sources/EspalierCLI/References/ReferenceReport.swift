#if CommandLine
import EspalierRecords

/// The references around a record, one row each.
struct ReferenceReport: Printable {
    let graph: ReferenceGraph
    let names: [Handle: RecordName]

    /// The rows for a person. At depth 1 every reference has the start at one end, which is left
    /// out.
    var shown: Report {
        guard graph.depth > 1 else {
            return report([.left("direction"), .left("path"), .left("record")]) { step in
                [.text(step.edge.path.description), name(step.far).cell]
            }
        }
        return report([
            .left("direction"), .right("depth"), .left("record"), .left("path"),
            .left("target", "refers to"),
        ]) { step in
            [
                .count(step.depth), name(step.edge.source).cell,
                .text(step.edge.path.description), name(step.edge.target).cell,
            ]
        }
    }

    /// The rows for a program.
    var report: Report {
        report([
            .left("direction"), .right("depth"), .left("source.kind"), .left("source.identifier"),
            .left("path"), .left("target.kind"), .left("target.identifier"),
        ]) { step in
            [.count(step.depth)] + cells(step.edge.source)
                + [.text(step.edge.path.description)] + cells(step.edge.target)
        }
    }

    /// Returns a row for each step: its direction, then `cells`.
    private func report(
        _ columns: [TableColumn], _ cells: (ReferenceGraph.Step) -> [Cell]
    ) -> Report {
        Report(
            .list, columns: columns,
            rows: graph.steps.map { [.text($0.direction.rawValue)] + cells($0) })
    }

    private func name(_ handle: Handle) -> RecordName {
        names[handle] ?? RecordName(kind: .nothing, identifier: "")
    }

    private func cells(_ handle: Handle) -> [Cell] {
        let name = name(handle)
        return [.text(name.kind.rawValue), .text(name.identifier.isEmpty ? nil : name.identifier)]
    }
}

/// References as a digraph in the language of Graphviz.
///
/// Vertices are named by handle, which is stable for the life of a record. Labels hold text from
/// the cache, in which the report escapes what Graphviz would take for an escape or an entity, and
/// makes control characters visible.
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

    /// Graphviz misreads strings of more than some thousand characters.
    private static let longestLabel = 80

    /// Returns a quoted string of the language that displays `text` literally.
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
#endif
