#if CommandLine
import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation

/// The outcome of a read and its reason, as `get --explain` prints it.
struct ReadExplanation {
    let entry: IndexEntry
    /// Nil for a hit.
    let reason: MissReason?
    /// Whether the read left out a reference back.
    let isCut: Bool
    let survey: TreeSurvey
    let record: RecordProfile
    /// The record at which the read stops, unless it is the record of the entry.
    let stop: RecordProfile?

    /// Reads `entry`. Returns nil if the index has no such entry.
    init?(of entry: EntryName, in inspection: Inspection) throws {
        guard let found = try inspection.entry(named: entry) else { return nil }
        let limits = Configuration.commandLine().limits
        let outcome = try inspection.outcome(
            JSONTree.self, found.nameSpace, found.identifier, limits: limits)
        self.entry = found
        reason = outcome.reason
        isCut = if case .hit(let hit) = outcome { hit.isCut } else { false }
        survey = try inspection.survey(of: found, levels: limits.maximumDepth)
        record = try RecordProfile(of: found.handle, in: inspection)
        let stop = reason == nil ? nil : survey.stop?.handle
        self.stop = try stop.flatMap {
            $0 == found.handle ? nil : try RecordProfile(of: $0, in: inspection)
        }
    }

    /// The path of a miss, or nil for a miss without one. The reason of a miss below a key or a
    /// collection names only the entry; the survey knows the path inside.
    private var path: String? {
        guard let path = reasonPath else { return nil }
        return survey.stop.flatMap { $0.path.hasPrefix(path) ? $0.path : nil } ?? path
    }

    private var reasonPath: String? {
        switch reason {
        case nil, .notFound, .deleted, .unavailable, .notStorable: nil
        case .tooDeep(let path), .tooLarge(let path), .cyclic(let path), .undecodable(let path, _),
            .damaged(let path, _),
            .newerVersion(let path, _), .expired(let path, _):
            path
        case .incomplete(let missing): missing.first?.description
        default: survey.stop?.path
        }
    }

    private var read: [Report.Fact] {
        [
            ("outcome", "outcome", reason == nil ? .text("hit", .good) : .text("miss", .bad)),
            ("reason", "reason", .text(reason?.name)), ("path", "path", .text(path, .name)),
            ("detail", "detail", .text(reason?.description)),
            ("records", "records of the tree", .count(survey.recordCount)),
            ("levels", "levels", .count(survey.depth)),
            ("isCut", "cut at a reference back", .flag(isCut)),
        ]
    }
}

extension ReadExplanation: Printable {
    var report: Report {
        var groups = [("the read", read), ("the entry's record", record.facts("record"))]
        if let stop { groups.append(("the record at which it stopped", stop.facts("stop"))) }
        let final = survey.places.filter(\.kind.isFinal)
        let typed = survey.places.filter { !$0.kind.isFinal }
        groups.append(("every read stops at", Self.facts(of: final, from: 0, .bad)))
        groups.append(
            ("types that need them stop at", Self.facts(of: typed, from: final.count, .warning)))
        if survey.placeCount > survey.places.count {
            let more = survey.placeCount - survey.places.count
            groups.append(("and more", [("placesMore", "places", .count(more))]))
        }
        return Report(groups: groups.map { (title: $0.0, facts: $0.1) })
    }

    private static func facts(
        of places: [TreePlace], from start: Int, _ style: TextStyle
    ) -> [Report.Fact] {
        places.enumerated().map { index, place in
            let text = [place.kind.rawValue, place.detail].compactMap(\.self)
            return (
                "places.\(start + index)", place.path, .text(text.joined(separator: ": "), style)
            )
        }
    }

    /// The places are an array of objects, in the order of the walk. `stop` is null if the read
    /// stopped at the record of the entry or was a hit.
    var json: JSONValue {
        ["identifier": .string(entry.identifier)] + Report(facts: read).json + [
            "record": record.json, "stop": stop?.json ?? .null,
            "placeCount": .number(survey.placeCount),
            "places": .array(
                survey.places.map { place in
                    [
                        "path": .string(place.path), "kind": .string(place.kind.rawValue),
                        "isFinal": .bool(place.kind.isFinal),
                        "handle": .number(Int(clamping: place.handle.rawValue)),
                        "detail": .string(place.detail),
                    ]
                }),
        ]
    }
}

/// How a record is stored, and what the cache knows about it besides its content.
struct RecordProfile {
    let handle: Handle
    let summary: RecordSummary
    /// Nil if there are no bytes: the record is deleted, lost or missing.
    let anatomy: RecordAnatomy?
    /// Nil if the state is damaged.
    let state: StateEntry?

    init(of handle: Handle, in inspection: Inspection) throws {
        self.handle = handle
        summary = try RecordSummaries(inspection).summary(of: handle)
        anatomy = try inspection.anatomy(of: handle)
        state = try inspection.state(of: handle)
    }

    /// Returns the facts, with names that begin with `name.`.
    func facts(_ name: String) -> [Report.Fact] {
        (what + stored + used).map { ("\(name).\($0.name)", $0.title, $0.cell) }
    }

    fileprivate var json: JSONValue { Report(facts: what + stored + used).json }

    private var what: [Report.Fact] {
        [
            ("identifier", "identifier", .text(summary.identifier, .name)),
            ("handle", "handle", .count(handle.rawValue)),
            ("kind", "kind", .text(summary.kind.rawValue, summary.kind.isRecord ? .plain : .bad)),
            ("problem", "problem", .text(anatomy?.problem, .bad)),
        ]
    }

    private var stored: [Report.Fact] {
        let ratio = Cell.ratio(raw: anatomy?.rawByteCount, stored: anatomy?.storedByteCount)
        return [
            ("nameSpace", "name space", .text(anatomy?.nameSpace.map { "\($0)" })),
            ("flags", "flags", anatomy.map { .texts($0.flagNames) } ?? .nothing),
            ("shape", "shape", .text(anatomy?.shapeName)),
            ("types", "types", .texts(anatomy?.shape?.types ?? [])),
            ("fields", "fields", .texts(anatomy?.shape?.fields.map(\.name) ?? [])),
            ("dictionary", "dictionary", .text(anatomy?.dictionaryNumber.map(dictionaryName))),
            ("rawBytes", "not compressed", .size(anatomy?.rawByteCount)),
            ("storedBytes", "as stored", .size(anatomy?.storedByteCount)),
            ("ratio", "ratio", ratio),
            ("chunks", "chunks", .text(anatomy.map(Self.chunks))),
            ("children", "children", .count(anatomy?.children?.count)),
        ]
    }

    private static func chunks(of anatomy: RecordAnatomy) -> String {
        guard let named = anatomy.namedChunks else { return "none" }
        return named == anatomy.chunks.count ? "\(named)" : "\(anatomy.chunks.count) of \(named)"
    }

    private var used: [Report.Fact] {
        let isThere = summary.kind != .nothing
        return [
            ("references", "references to it", .count(summary.references)),
            ("stamp", "last use, stamp", stamp),
            ("age", "last use, accesses ago", .count(summary.age)),
            ("ageSeconds", "last use, time ago", .seconds(summary.time)),
            ("writtenAt", "last written by itself", .text(state?.writtenAt.map(Self.date))),
            ("expiresInSeconds", "expires", summary.expiry),
            ("state", "state", isThere ? .texts(stateNames) : .nothing),
        ]
    }

    private static func date(_ time: WriteTime) -> String { time.date.formatted(.iso8601) }

    private var stamp: Cell {
        guard summary.kind != .nothing, let state, state.stamp > .never else { return .nothing }
        return .count(state.stamp.rawValue)
    }

    private var stateNames: [String] {
        guard let state else { return ["damaged"] }
        let names: [(StateEntry.Flags, String)] = [
            (.tombstone, "deleted"), (.lost, "lost"), (.nameless, "without a name"),
            (.onCycle, "on a cycle"),
            (.blocked, "blocked"), (.pendingRemoval, "pending removal"),
        ]
        return (summary.isPinned ? ["pinned"] : [])
            + names.filter { state.flags.contains($0.0) }.map(\.1)
    }
}
#endif
