/// What an import of records came to.
struct RestoreSummary: Sendable, Equatable {
    let records: Int
    /// Records that changed or are new.
    let written: Int

    var unchanged: Int { records - written }
}

extension RestoreSummary: Printable {
    var report: Report {
        var report = Report(
            .single,
            columns: [
                .right("records"), .right("recordsWritten", "written"),
                .right("recordsUnchanged", "unchanged"),
            ])
        report.append([records, written, unchanged].map { .count($0) })
        return report
    }
}
