extension CacheStatistics {
    /// Returns the statistics in the text format of Prometheus, for a server's metrics endpoint.
    ///
    /// ```swift
    /// router.get("metrics") { _, _ in try cache.statistics().prometheusText() }
    /// ```
    ///
    /// Times are in seconds and sizes in bytes, as the format's conventions ask for. Counters cover
    /// the whole life of the cache and all its processes. The format is described at
    /// https://prometheus.io/docs/instrumenting/exposition_formats/.
    ///
    /// - Parameters:
    ///   - prefix: What the names of the metrics begin with: letters and underscores.
    ///   - labels: Labels of every line, for example the name of the cache.
    public func prometheusText(
        prefix: String = "espalier", labels: [String: String] = [:]
    ) -> String {
        var text = PrometheusText(prefix: prefix, labels: labels)
        text.gauge("records", "Records stored", Double(records))
        text.gauge("directory_bytes", "Size of the directory", Double(directoryBytes.bytes))
        text.gauge("budget_bytes", "Most bytes of the directory", Double(budget.bytes))
        text.gauge("pages_used", "Pages in use", Double(pagesUsed))
        text.gauge("pending_writes", "Writes not yet committed", Double(pendingWrites))
        text.gauge("pending_bytes", "Bytes of waiting writes", Double(pendingBytes.bytes))
        text.gauge(
            "writer_blocked_seconds", "Length of the commit under way",
            writerBlockedFor.map { $0 / .seconds(1) } ?? 0)
        text.counter("hits_total", "Reads that were hits", Double(hits))
        text.counter("misses_total", "Reads that missed", misses, by: "reason")
        text.counter("commits_total", "Commits", Double(commits))
        text.counter("records_written_total", "Records written", Double(recordsWritten))
        text.counter("dropped_writes_total", "Writes given up", droppedWrites, by: "reason")
        text.counter("rejected_writes_total", "Writes refused", rejectedWrites, by: "code")
        text.counter("evicted_records_total", "Records evicted", Double(evictions.records))
        text.counter("evicted_bytes_total", "Bytes evicted", Double(evictions.bytes.bytes))
        text.summary("read_seconds", "Time of reads", readLatency)
        text.summary("commit_seconds", "Time of commits", commitLatency)
        return text.lines.joined(separator: "\n") + "\n"
    }
}

/// Lines of the text format of Prometheus.
private struct PrometheusText {
    let prefix: String
    let labels: [String: String]
    private(set) var lines: [String] = []

    init(prefix: String, labels: [String: String]) {
        self.prefix = prefix
        self.labels = labels
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        begin(name, help, "gauge")
        add(name, [:], value)
    }

    mutating func counter(_ name: String, _ help: String, _ value: Double) {
        begin(name, help, "counter")
        add(name, [:], value)
    }

    /// Adds a line for each value, with its name as the label `label`.
    mutating func counter(
        _ name: String, _ help: String, _ values: [String: Int], by label: String
    ) {
        begin(name, help, "counter")
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            add(name, [label: key], Double(value))
        }
    }

    /// Adds the quantiles that are known, and the count.
    mutating func summary(_ name: String, _ help: String, _ latency: LatencySummary) {
        begin(name, help, "summary")
        for (quantile, value) in [("0.5", latency.p50), ("0.99", latency.p99)] {
            guard let value else { continue }
            add(name, ["quantile": quantile], value / .seconds(1))
        }
        add(name + "_count", [:], Double(latency.count))
    }

    private mutating func begin(_ name: String, _ help: String, _ type: String) {
        lines.append("# HELP \(prefix)_\(name) \(help)")
        lines.append("# TYPE \(prefix)_\(name) \(type)")
    }

    private mutating func add(_ name: String, _ own: [String: String], _ value: Double) {
        let all = labels.merging(own) { _, own in own }.sorted { $0.key < $1.key }
        let text = all.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
        lines.append("\(prefix)_\(name)" + (text.isEmpty ? "" : "{\(text)}") + " \(number)")
    }

    private static func escaped(_ value: String) -> String {
        value.map { character in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(character)
            }
        }.joined()
    }
}
