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
        metrics.flatMap { metric -> [String] in
            let name = "\(prefix)_\(metric.name)"
            return ["# HELP \(name) \(metric.help)", "# TYPE \(name) \(metric.kind)"]
                + metric.samples.map { sample in
                    sample.prometheusLine(of: name, labels)
                }
        }.joined(separator: "\n") + "\n"
    }

    /// The statistics that a server watches, by their names in Prometheus.
    package var metrics: [CacheMetric] {
        [
            .gauge("records", "Records stored", Double(records)),
            .gauge("directory_bytes", "Size of the directory", Double(directoryBytes.bytes)),
            .gauge("budget_bytes", "Most bytes of the directory", Double(budget.bytes)),
            .gauge("pages_used", "Pages in use", Double(pagesUsed)),
            .gauge("memory_trees", "Decoded trees in memory", Double(memory.trees)),
            .gauge("memory_bytes", "Memory of decoded trees", Double(memory.bytes.bytes)),
            .gauge("pending_writes", "Writes not yet committed", Double(pendingWrites)),
            .gauge("pending_bytes", "Bytes of waiting writes", Double(pendingBytes.bytes)),
            .gauge(
                "writer_blocked_seconds", "Length of the commit under way",
                writerBlockedFor.map { $0 / .seconds(1) } ?? 0),
            .counter("hits_total", "Reads that were hits", Double(hits)),
            .counter("misses_total", "Reads that missed", misses, by: "reason"),
            .counter("memory_hits_total", "Trees found in memory", Double(memory.hits)),
            .counter("memory_misses_total", "Trees not in memory", Double(memory.misses)),
            .counter(
                "memory_stale_reads_total", "Trees that had changed", Double(memory.staleReads)),
            .counter(
                "memory_removals_total", "Trees that made room", Double(memory.removals)),
            .counter(
                "memory_repeated_writes_total", "Writes of this process known to be stored",
                Double(memory.repeatedWrites)),
            .counter("commits_total", "Commits", Double(commits)),
            .counter("records_written_total", "Records written", Double(recordsWritten)),
            .counter("dropped_writes_total", "Writes given up", droppedWrites, by: "reason"),
            .counter("rejected_writes_total", "Writes refused", rejectedWrites, by: "code"),
            .counter("evicted_records_total", "Records evicted", Double(evictions.records)),
            .counter("evicted_bytes_total", "Bytes evicted", Double(evictions.bytes.bytes)),
            .counter(
                "detached_records_total", "Records that have lost their references",
                Double(evictions.detachedRecords)),
            .summary("read_seconds", "Time of reads", readLatency),
            .summary("commit_seconds", "Time of commits", commitLatency),
        ]
    }
}

/// One of the statistics as a monitoring system has it: a name, and values with labels.
package struct CacheMetric: Sendable {
    /// What the values of a metric are, under the names of Prometheus.
    package enum Kind: String, Sendable {
        /// The latest value counts.
        case gauge
        /// The value only grows.
        case counter
        /// Quantiles, which are gauges, and a count, which only grows.
        case summary
    }

    /// A value of a metric.
    package struct Sample: Sendable {
        /// What the name of the sample adds to that of the metric.
        package var suffix = ""
        package var label: (name: String, value: String)?
        package var value: Double
        /// Whether the value only grows.
        package var isCounter: Bool
    }

    package let name: String
    package let help: String
    package let kind: Kind
    package private(set) var samples: [Sample] = []

    static func gauge(_ name: String, _ help: String, _ value: Double) -> CacheMetric {
        CacheMetric(
            name: name, help: help, kind: .gauge,
            samples: [Sample(value: value, isCounter: false)])
    }

    static func counter(_ name: String, _ help: String, _ value: Double) -> CacheMetric {
        CacheMetric(
            name: name, help: help, kind: .counter,
            samples: [Sample(value: value, isCounter: true)])
    }

    /// Returns a metric with a sample for each value, whose name is the label `label`.
    static func counter(
        _ name: String, _ help: String, _ values: [String: Int], by label: String
    ) -> CacheMetric {
        CacheMetric(
            name: name, help: help, kind: .counter,
            samples: values.sorted { $0.key < $1.key }.map {
                Sample(label: (label, $0.key), value: Double($0.value), isCounter: true)
            })
    }

    /// Returns a metric with the quantiles that are known, and the count.
    static func summary(
        _ name: String, _ help: String, _ latency: LatencySummary
    ) -> CacheMetric {
        var metric = CacheMetric(name: name, help: help, kind: .summary)
        for (quantile, value) in [("0.5", latency.p50), ("0.99", latency.p99)] {
            guard let value else { continue }
            metric.samples.append(
                Sample(
                    label: ("quantile", quantile), value: value / .seconds(1), isCounter: false))
        }
        metric.samples.append(
            Sample(suffix: "_count", value: Double(latency.count), isCounter: true))
        return metric
    }
}

extension CacheMetric.Sample {
    /// Returns the sample as a line of the text format of Prometheus.
    fileprivate func prometheusLine(of name: String, _ labels: [String: String]) -> String {
        var all = labels
        if let label { all[label.name] = label.value }
        let text = all.sorted { $0.key < $1.key }
            .map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
        return name + suffix + (text.isEmpty ? "" : "{\(text)}") + " \(number)"
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
