import EspalierCharts

/// How a fleet behaves as it grows: the near hit rate, and the messages to followers.
public struct GrowthChart: Sendable {
    /// A fleet and what it did.
    public struct Point: Sendable {
        /// The number of hosts.
        public let hosts: Int
        /// The share of reads that near caches answered.
        public let nearHitRate: Double
        /// The answers to followers that each server sent in a second.
        public let messages: Double
        /// The answers that each server would have sent if it told of each commit by itself.
        public let commitsTold: Double
        /// The share of the time that the busiest server worked.
        public let work: Double

        /// Makes a point.
        ///
        /// - Parameters:
        ///   - model: The fleet.
        ///   - outcome: What it did.
        public init(_ model: FleetModel, _ outcome: FleetOutcome) {
            let serverSeconds = Double(model.duration) / 1e9 * Double(model.servers)
            hosts = model.hosts
            nearHitRate = outcome.nearHitRate
            messages = Double(outcome.messages) / serverSeconds
            commitsTold = Double(outcome.commits * model.hosts) / serverSeconds
            work = outcome.work.max() ?? 0
        }
    }

    private let points: [Point]

    /// Makes a chart.
    ///
    /// - Parameter points: Fleets of different sizes.
    public init(_ points: [Point]) { self.points = points }

    private func series(
        _ name: String, isEmphasised: Bool = false, _ value: (Point) -> Double
    ) -> LineChart.Series {
        .init(
            name, points: points.map { .init(Double($0.hosts), value($0)) },
            isEmphasised: isEmphasised)
    }

    /// The chart as an SVG document: shares above, messages below.
    public var svg: String {
        let axis = LineChart.Axis("hosts", unit: .count, scale: .logarithmic)
        let shares = LineChart(
            title: "A fleet on 8 servers, simulated",
            subtitle: "Each host reads 200 records and changes 1 in a second", x: axis,
            y: .init("share", unit: .share),
            series: [
                series("near hits", isEmphasised: true, \.nearHitRate),
                series("server busy", \.work),
            ])
        let messages = LineChart(
            title: "Messages to followers, per server and second", x: axis,
            y: .init("messages", unit: .count, scale: .logarithmic),
            series: [
                series("sent", isEmphasised: true, \.messages),
                series("one for each commit", \.commitsTold),
            ],
            note: "Virtual time, costs measured on one core with redis-server 7.0")
        return Self.stack([shares.svg, messages.svg])
    }

    /// Returns one document with documents below each other.
    static func stack(_ documents: [String]) -> String {
        var top = 0.0
        var width = 0.0
        var parts: [String] = []
        for document in documents {
            parts.append(
                document.replacing("<svg ", with: "<svg y=\"\(top)\" ", maxReplacements: 1))
            top += attribute("height", of: document)
            width = max(width, attribute("width", of: document))
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(top)" \
            viewBox="0 0 \(width) \(top)">
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    private static func attribute(_ name: String, of document: String) -> Double {
        guard let start = document.firstRange(of: " \(name)=\"")?.upperBound else { return 0 }
        return Double(document[start...].prefix { $0 != "\"" }) ?? 0
    }
}
