import EspalierRecords

/// The references around a record, a row each.
struct ReferenceReport: Sendable {
    let graph: ReferenceGraph
    let names: [Handle: RecordName]

    private func name(_ handle: Handle) -> RecordName {
        names[handle] ?? RecordName(kind: .nothing, identifier: "")
    }

    /// For a person: at the other end of its own references a record need not be named.
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

    /// For a program.
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
