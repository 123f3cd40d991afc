import EspalierStore

/// What an eviction would take, with what it has to leave.
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
            ("isReached", "that is enough", .flag(preview.isReached)),
        ]
        let stays: [Report.Fact] = [
            ("pins", "pins", .count(pins)),
            ("pinnedRecords", "records they keep", .count(pinnedRecords)),
            ("pinnedBytes", "their bytes", .size(pinnedBytes.bytes)),
        ]
        return Report(groups: [
            (
                "what would go",
                would + victim("oldest", preview.oldest) + victim("youngest", preview.youngest)
            ),
            ("the room it makes", room), ("what can't go", stays),
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
