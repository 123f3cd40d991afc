#if CommandLine
import EspalierRecords

/// The references around a record, one row each.
struct ReferenceReport: Sendable {
    let graph: ReferenceGraph
    let names: [Handle: RecordName]

    private func name(_ handle: Handle) -> RecordName {
        names[handle] ?? RecordName(kind: .nothing, identifier: "")
    }

    /// The rows for a person. At depth 1 every reference has the start at one end, which is left
    /// out.
    var table: Report {
        graph.depth == 1 ? near : whole
    }

    private var near: Report {
        var report = Report(.list, columns: [.left("direction"), .left("path"), .left("record")])
        for step in graph.steps {
            report.append([direction(step), .text(step.edge.path.description), name(step.far).cell])
        }
        return report
    }

    private var whole: Report {
        var report = Report(
            .list,
            columns: [
                .left("direction"), .right("depth"), .left("record"), .left("path"),
                .left("target", "refers to"),
            ])
        for step in graph.steps {
            report.append([
                direction(step), .count(step.depth), name(step.edge.source).cell,
                .text(step.edge.path.description),
                name(step.edge.target).cell,
            ])
        }
        return report
    }

    /// The rows for a program.
    var list: Report {
        var report = Report(
            .list,
            columns: [
                .left("direction"), .right("depth"), .left("source.kind"),
                .left("source.identifier"), .left("path"),
                .left("target.kind"), .left("target.identifier"),
            ])
        for step in graph.steps {
            let (source, target) = (name(step.edge.source), name(step.edge.target))
            report.append([
                direction(step), .count(step.depth), .text(source.kind.rawValue),
                identifier(source),
                .text(step.edge.path.description), .text(target.kind.rawValue), identifier(target),
            ])
        }
        return report
    }

    private func direction(_ step: ReferenceGraph.Step) -> Cell { .text(step.direction.rawValue) }

    private func identifier(_ name: RecordName) -> Cell {
        name.identifier.isEmpty ? .nothing : .text(name.identifier)
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
