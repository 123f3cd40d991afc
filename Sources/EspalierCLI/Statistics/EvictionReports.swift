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
            ("bytes", "their bytes", .size(preview.bytes)),
        ]
        let room: [Report.Fact] = [
            ("bytesInUse", "in use now", .size(preview.bytesInUse)),
            ("bytesLeft", "in use then, about", .size(preview.bytesLeft)),
            ("isReached", "size is reached", .flag(preview.isReached)),
        ]
        let stays: [Report.Fact] = [
            ("pins", "pins", .count(pins)),
            ("pinnedRecords", "pinned records", .count(pinnedRecords)),
            ("pinnedBytes", "their bytes", .size(pinnedBytes)),
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
            ("\(name).kind", "\(name), kind", .text(kind)),
            ("\(name).identifier", name, .text(victim?.identifier, .name)),
            ("\(name).ageSeconds", "\(name), not accessed for", .seconds(victim?.age)),
        ]
    }
}

/// The records that an eviction removed, from the statistics before and after it.
struct EvictionSummary: Printable {
    let before: CacheStatistics
    let after: CacheStatistics

    var report: Report {
        // Records that other processes store meanwhile can hide evicted ones, so the statistics of
        // evictions are the lower bound.
        let (old, new) = (before.evictions, after.evictions)
        let records = max(
            0, before.records - after.records, new.explicit.records - old.explicit.records)
        let bytes = max(
            0, before.recordBytes.bytes - after.recordBytes.bytes,
            new.explicit.bytes.bytes - old.explicit.bytes.bytes)
        let collections = max(0, before.collections - after.collections)
        return Report(facts: [
            ("records", "records", .count(records)),
            ("bytes", "their bytes", .size(bytes)),
            ("collections", "collections among them", .count(collections)),
            ("bytesInUse", "in use before", .size(before.bytesInUse)),
            ("bytesLeft", "in use now", .size(after.bytesInUse)),
            ("timeSpentNanoseconds", "time spent", .nanoseconds(new.timeSpent - old.timeSpent)),
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
            ("budget", "budget", .size(statistics.budget)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes)),
            ("bytesInUse", "in use", .size(statistics.bytesInUse)),
            ("evictsAboveBytes", "evicts above", .size(high)),
            ("pinnedBytes", "pinned, at most", .size(pinnedBytes)),
            ("pinLimitBytes", "may be pinned", .size(statistics.budget.bytes / 2)),
        ])
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
