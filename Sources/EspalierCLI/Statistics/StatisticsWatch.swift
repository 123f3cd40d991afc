#if CommandLine
import Dispatch
import EspalierStore
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Prints the activity of a cache, a line per interval, until the ticks end.
struct StatisticsWatch {
    let cache: NormalizedCache
    let output: any OutputChoice
    /// The number of lines to print; nil for no limit.
    let count: Int?

    /// The number of lines below each header.
    private static let linesPerHeader = 20

    func run(_ ticks: Ticks) async throws {
        let clock = ContinuousClock()
        var before = try cache.statistics()
        var start = clock.now
        var lines = 0
        for await _ in ticks.stream {
            let now = clock.now
            let after = try cache.statistics()
            try print(WatchLine(before: before, after: after, elapsed: now - start), number: lines)
            (before, start) = (after, now)
            lines += 1
            if let count, lines >= count { break }
        }
    }

    private func print(_ line: WatchLine, number: Int) throws {
        let columns = WatchLine.columns
        let cells = line.cells()
        switch output.format {
        case .table:
            if number % Self.linesPerHeader == 0 {
                try Console.print(output.palette.paint(row(columns.map(\.column.title)), .title))
            }
            try Console.print(row(cells.map { if case .nothing = $0 { "-" } else { $0.shown } }))
        case .json:
            let report = Report(.single, columns: columns.map(\.column), rows: [cells])
            try Console.print(report.json, style: .compact)
        case .csv:
            if number == 0 { try Console.print(CSV.line(columns.map(\.column.name))) }
            try Console.print(CSV.line(cells.map(\.csv)))
        }
    }

    private func row(_ texts: [String]) -> String {
        zip(WatchLine.columns, texts).map { TableColumn.Alignment.right.pad($1, to: $0.width) }
            .joined(separator: " ")
    }
}

/// The activity of a cache between two snapshots of its statistics.
struct WatchLine {
    let before: CacheStatistics
    let after: CacheStatistics
    let elapsed: Duration

    /// The columns with their least width, in which the figures of a large cache fit, so that the
    /// lines align.
    static let columns: [(column: TableColumn, width: Int)] = [
        (.right("records"), 10), (.right("roots"), 8), (.right("fill"), 7),
        (.right("hitRate", "hit rate"), 8),
        (.right("hitsPerSecond", "hits/s"), 9), (.right("missesPerSecond", "misses/s"), 8),
        (.right("writesPerSecond", "writes/s"), 8), (.right("evictedPerSecond", "evicted/s"), 9),
        (.right("commitP99Nanoseconds", "commit p99"), 10),
        (.right("directoryBytes", "directory"), 10),
    ]

    /// The cells: rates of activity, and the current contents.
    func cells() -> [Cell] {
        let hits = grown { $0.hits }
        let misses = grown { $0.misses.values.reduce(0, +) }
        let rate = hits + misses == 0 ? Cell.nothing : .share(Double(hits) / Double(hits + misses))
        return [
            .count(after.records), .count(after.roots), .share(after.fill), rate, perSecond(hits),
            perSecond(misses),
            perSecond(grown { $0.writes }), perSecond(grown { $0.evictions.records }),
            .nanoseconds(after.commitLatencies.since(before.commitLatencies).quantile(0.99)),
            .size(after.directoryBytes.bytes),
        ]
    }

    /// Returns the growth of a count. Some counts restart at 0 when the cache is emptied.
    private func grown(_ count: (CacheStatistics) -> Int) -> Int {
        let (before, after) = (count(before), count(after))
        return after < before ? after : after - before
    }

    private func perSecond(_ count: Int) -> Cell {
        let seconds =
            Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return .count(seconds > 0 ? Int((Double(count) / seconds).rounded()) : 0)
    }
}

/// A tick per interval, until SIGINT (Ctrl-C) or SIGTERM.
final class Ticks {
    let stream: AsyncStream<Void>
    private let timer: any DispatchSourceTimer
    private let signals: SignalWatch

    init(every seconds: Double) {
        // A consumer that is too slow skips ticks.
        let (stream, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { continuation.yield() }
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        timer.resume()
        signals = SignalWatch([SIGINT, SIGTERM]) { _ in continuation.finish() }
    }

    deinit { timer.cancel() }
}
#endif
