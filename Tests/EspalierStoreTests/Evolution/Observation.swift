import EspalierRecords
import EspalierStore
import Testing

/// The result when one version reads the record of another.
enum Reading: Equatable {
    case hit(String)
    case miss(MissReason)

    init<Model: Versioned>(_ outcome: ReadOutcome<Model>) {
        switch outcome {
        case .hit(let hit): self = .hit(hit.value.shown)
        case .miss(let reason): self = .miss(reason)
        }
    }

    var text: String {
        switch self {
        case .hit(let shown): "reads `\(shown)`"
        case .miss(.undecodable(let path, _)): "misses at `\(path)`"
        case .miss(.incomplete(let missing)): "misses at `\(missing[0])`"
        case .miss(let reason): "misses: \(reason.name)"
        }
    }

    /// The detail of an undecodable record; nil for other results.
    var detail: String? {
        guard case .miss(.undecodable(_, let detail)) = self else { return nil }
        return detail
    }
}

/// The results when two versions of a model read each other's records.
struct Observation: Equatable {
    let newReadsOld: Reading
    let oldReadsNew: Reading
    /// The result when the old version reads after the new one has replaced its record.
    let oldReadsReplaced: Reading
    let oldReadsMerged: Reading
    let old: String
    let new: String

    /// The cells of the row after the name of the change.
    var cells: [String] {
        [
            "`\(old)` \(newReadsOld.text)", "`\(new)` \(oldReadsNew.text)",
            oldReadsReplaced == oldReadsNew ? "the same" : oldReadsReplaced.text,
            oldReadsMerged == oldReadsNew ? "the same" : oldReadsMerged.text,
        ]
    }

    var details: [String] {
        [newReadsOld, oldReadsNew, oldReadsReplaced, oldReadsMerged].compactMap(\.detail)
    }
}

extension Observation {
    /// Upgrades, downgrades and merges, each version in a commit of its own.
    init<Old: Versioned, New: Versioned>(from old: Old, to new: New) throws {
        let upgrade = try ReopenedCache()
        try upgrade.write(old)
        newReadsOld = Reading(try upgrade.read(New.self))
        #expect(try upgrade.read(Old.self).value == old, "a mismatch is no damage")
        try upgrade.write(new)
        #expect(
            try upgrade.read(New.self).value == new,
            "a write is readable, whatever was there before")
        oldReadsReplaced = Reading(try upgrade.read(Old.self))

        let downgrade = try ReopenedCache()
        try downgrade.write(new)
        oldReadsNew = Reading(try downgrade.read(Old.self))
        #expect(try downgrade.read(New.self).value == new, "a mismatch is no damage")
        try downgrade.write(old)
        #expect(
            try downgrade.read(Old.self).value == old,
            "a write is readable, whatever was there before")

        let merge = try ReopenedCache()
        try merge.write(old)
        try merge.write(new, policy: .merge)
        // A merge of nil keeps the stored value, so the model may differ from the written one.
        #expect(
            try merge.read(New.self).value != nil, "a write is readable, whatever was there before")
        oldReadsMerged = Reading(try merge.read(Old.self))

        for cache in [upgrade, downgrade, merge] { try cache.verify() }
        self.old = old.shown
        self.new = new.shown
    }
}
