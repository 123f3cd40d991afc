import EspalierStore
import Foundation

/// The statistics of a cache, to be printed.
struct StatisticsReport: Printable {
    let statistics: CacheStatistics

    private enum Figure {
        case count(Int)
        case size(ByteCount)
        case share(Double)
    }

    private var figures: [(name: String, label: String, figure: Figure)] {
        [
            ("nodes", "nodes", .count(statistics.nodes)),
            ("roots", "roots", .count(statistics.roots)),
            ("keys", "keys", .count(statistics.keys)),
            ("collections", "collections", .count(statistics.collections)),
            ("segments", "segments", .count(statistics.segments)),
            ("tombstones", "tombstones", .count(statistics.tombstones)),
            ("shapes", "shapes", .count(statistics.shapes)),
            ("recordBytes", "records", .size(statistics.recordBytes)),
            ("pageSize", "page", .size(statistics.pageSize)),
            ("pagesUsed", "pages used", .count(statistics.pagesUsed)),
            ("pageCapacity", "pages at most", .count(statistics.pageCapacity)),
            ("fill", "fill", .share(statistics.fill)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes)),
            ("budget", "budget", .size(statistics.budget)),
            ("commits", "commits", .count(statistics.commits)),
            ("writes", "writes", .count(statistics.writes)),
            ("deletes", "deletes", .count(statistics.deletes)),
            ("recordsWritten", "records written", .count(statistics.recordsWritten)),
            ("recordsUnchanged", "records unchanged", .count(statistics.recordsUnchanged)),
            ("hits", "hits", .count(statistics.hits)),
        ]
    }

    private var misses: [(reason: String, count: Int)] {
        statistics.misses.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    var table: Table {
        var table = Table(columns: [.left("statistic"), .right("value")])
        for (_, label, figure) in figures {
            switch figure {
            case .count(let count): table.append([label, String(count)])
            case .size(let size): table.append([label, SizeArgument.formatted(size.bytes)])
            case .share(let share): table.append([label, String(format: "%.1f %%", share * 100)])
            }
        }
        for (reason, count) in misses { table.append(["misses, \(reason)", String(count)]) }
        return table
    }

    /// Bytes as plain numbers.
    var json: JSONValue {
        let members = figures.map { name, _, figure in
            switch figure {
            case .count(let count): JSONMember(name: name, value: .number(JSONNumber(count)))
            case .size(let size): JSONMember(name: name, value: .number(JSONNumber(size.bytes)))
            case .share(let share): JSONMember(name: name, value: .number(.double(share)))
            }
        }
        let misses = misses.map { JSONMember(name: $0.reason, value: .number(JSONNumber($0.count))) }
        return .object(members + [JSONMember(name: "misses", value: .object(misses))])
    }
}
