#if CommandLine
import EspalierInspection
import EspalierLMDB
import EspalierRecords
import EspalierStore

/// The records that an eviction would remove, and the pinned ones that it would keep.
struct EvictionForecast: Printable {
    let preview: EvictionPreview
    let pins: Int
    let pinnedRecords: Int
    let pinnedBytes: ByteCount

    var report: Report {
        let would: [Report.Fact] = [
            ("trees", "trees", .count(preview.trees)),
            ("records", "records", .count(preview.records)),
            ("bytes", "their bytes", .size(preview.bytes.bytes)),
        ]
        let room: [Report.Fact] = [
            ("bytesInUse", "in use now", .size(preview.bytesInUse.bytes)),
            ("bytesLeft", "in use then, about", .size(preview.bytesLeft.bytes)),
            ("isReached", "size is reached", .flag(preview.isReached)),
        ]
        let stays: [Report.Fact] = [
            ("pins", "pins", .count(pins)),
            ("pinnedRecords", "pinned records", .count(pinnedRecords)),
            ("pinnedBytes", "their bytes", .size(pinnedBytes.bytes)),
        ]
        return Report(groups: [
            (
                "would be evicted",
                would + victim("oldest", preview.oldest) + victim("youngest", preview.youngest)
            ),
            ("space", room), ("pinned", stays),
        ])
    }

    private func victim(_ name: String, _ victim: PreviewedEviction?) -> [Report.Fact] {
        let kind = victim.map { RecordName.Kind($0.nameSpace).rawValue }
        return [
            ("\(name).kind", "\(name), kind", kind.map { .text($0) } ?? .nothing),
            ("\(name).identifier", name, victim.map { .text($0.identifier, .name) } ?? .nothing),
            ("\(name).ageSeconds", "\(name), not accessed for", .seconds(victim?.age)),
        ]
    }
}

/// The records that an eviction removed, from the statistics before and after it.
struct EvictionSummary: Printable {
    let before: CacheStatistics
    let after: CacheStatistics

    /// The number of evicted records. Records that other processes store meanwhile can hide some,
    /// so the statistics of evictions are the lower bound.
    private var records: Int {
        max(0, before.records - after.records, evicted { $0.explicit.records })
    }

    private var bytes: Int {
        max(
            0, before.recordBytes.bytes - after.recordBytes.bytes,
            evicted { $0.explicit.bytes.bytes })
    }

    private func evicted(_ count: (EvictionStatistics) -> Int) -> Int {
        count(after.evictions) - count(before.evictions)
    }

    private var timeSpent: Duration { after.evictions.timeSpent - before.evictions.timeSpent }

    var report: Report {
        Report(facts: [
            ("records", "records", .count(records)),
            ("bytes", "their bytes", .size(bytes)),
            (
                "collections", "collections among them",
                .count(max(0, before.collections - after.collections))
            ),
            ("bytesInUse", "in use before", .size(before.bytesInUse.bytes)),
            ("bytesLeft", "in use now", .size(after.bytesInUse.bytes)),
            ("timeSpentNanoseconds", "time spent", .nanoseconds(timeSpent)),
        ])
    }
}

/// The budget of a cache, and how much of it is in use.
struct BudgetReport: Printable {
    let statistics: CacheStatistics
    let condition: CacheCondition
    let pinnedBytes: ByteCount

    var report: Report {
        // The bytes of the files besides the pages of records.
        let sideFiles = statistics.bytesInUse.bytes - statistics.pageBytes.bytes
        let high = condition.usablePages * statistics.pageSize.bytes + sideFiles
        return Report(facts: [
            ("budget", "budget", .size(statistics.budget.bytes)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes.bytes)),
            ("bytesInUse", "in use", .size(statistics.bytesInUse.bytes)),
            ("evictsAboveBytes", "evicts above", .size(high)),
            ("pinnedBytes", "pinned, at most", .size(pinnedBytes.bytes)),
            ("pinLimitBytes", "may be pinned", .size(statistics.budget.bytes / 2)),
        ])
    }
}

/// The pins of a snapshot.
struct PinList {
    private let pins: [IndexEntry]

    init(_ inspection: Inspection) throws { pins = try inspection.pins }

    func contains(_ entry: EntryName) -> Bool {
        pins.contains {
            $0.nameSpace == entry.nameSpace
                && Identifier($0.identifier) == Identifier(entry.text)
        }
    }

    /// Returns the pinned nodes, then the pinned collections, each by identifier.
    func summaries(in inspection: Inspection) throws -> [RecordSummary] {
        let reader = try RecordSummaries(inspection)
        return try pins.map { try reader.summary(of: $0, try inspection.record(of: $0)) }
    }
}

/// The result of `collect-cycles`, from the statistics before and after it.
struct CycleCollectionSummary: Printable {
    let before: CacheStatistics
    let after: CacheStatistics

    var report: Report {
        Report(facts: [
            ("records", "records checked", .count(after.records)),
            (
                "cycleRecordsFound", "newly found on cycles",
                .count(after.evictions.cycleRecordsFound - before.evictions.cycleRecordsFound)
            ),
            ("roots", "can be evicted now", .count(after.roots)),
            ("rootsBefore", "could be evicted before", .count(before.roots)),
        ])
    }
}
#endif
