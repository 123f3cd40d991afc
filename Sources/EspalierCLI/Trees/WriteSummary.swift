/// What a write came to.
struct WriteSummary: Sendable, Equatable {
    let models: Int
    /// With different identifiers.
    let nodes: Int
    /// Nodes whose record changed or is new.
    let written: Int
    /// Objects that say something else of a node than the first one of its identity, which counts.
    let contradictions: Int
    /// Records that were evicted meanwhile, whosever they were.
    var evicted = 0

    var unchanged: Int { nodes - written }
}

extension WriteSummary: Printable {
    var report: Report {
        var report = Report(
            .single,
            columns: [
                .right("models"), .right("nodes"), .right("nodesWritten", "written"),
                .right("nodesUnchanged", "unchanged"), .right("contradictions"),
            ])
        report.append([models, nodes, written, unchanged, contradictions].map { .count($0) })
        return report
    }
}
