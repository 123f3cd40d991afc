#if CommandLine
import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierStore

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
        case nil, .notFound, .deleted, .unavailable, .notStorable, .expired: nil
        case .tooDeep(let path), .tooLarge(let path), .cyclic(let path), .undecodable(let path, _),
            .damaged(let path, _),
            .newerVersion(let path, _):
            path
        default: survey.stop?.path
        }
    }

    private var read: [Report.Fact] {
        [
            ("outcome", "outcome", reason == nil ? .text("hit", .good) : .text("miss", .bad)),
            ("reason", "reason", reason.map { .text($0.name) } ?? .nothing),
            ("path", "path", path.map { .text($0, .name) } ?? .nothing),
            ("detail", "detail", reason.map { .text($0.description) } ?? .nothing),
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
        groups.append(("every read stops at", facts(of: final, from: 0)))
        groups.append(
            ("types that need them stop at", facts(of: typed, from: final.count)))
        if survey.placeCount > survey.places.count {
            let more = survey.placeCount - survey.places.count
            groups.append(("and more", [("placesMore", "places", .count(more))]))
        }
        return Report(groups: groups.map { (title: $0.0, facts: $0.1) })
    }

    private func facts(of places: [TreePlace], from start: Int) -> [Report.Fact] {
        places.enumerated().map { index, place in
            (
                "places.\(start + index)", place.path,
                .text(
                    [place.kind.rawValue, place.detail].compactMap { $0 }.joined(separator: ": "),
                    place.kind.style)
            )
        }
    }

    /// The places are an array of objects, in the order of the walk. `stop` is null if the read
    /// stopped at the record of the entry or was a hit.
    var json: JSONValue {
        var members = [JSONMember(name: "identifier", value: .string(entry.identifier))]
        if case .object(let read) = Report(facts: read).json { members += read }
        members.append(JSONMember(name: "record", value: Self.object(record)))
        members.append(JSONMember(name: "stop", value: stop.map(Self.object) ?? .null))
        members.append(
            JSONMember(name: "placeCount", value: .number(JSONNumber(survey.placeCount))))
        members.append(JSONMember(name: "places", value: .array(survey.places.map(\.json))))
        return .object(members)
    }

    private static func object(_ profile: RecordProfile) -> JSONValue {
        Report(facts: profile.facts("of")).json["of"] ?? .null
    }
}

extension TreePlace {
    fileprivate var json: JSONValue {
        [
            "path": .string(path), "kind": .string(kind.rawValue), "isFinal": .bool(kind.isFinal),
            "handle": .number(JSONNumber(Int(clamping: handle.rawValue))),
            "detail": detail.map { .string($0) } ?? .null,
        ]
    }
}

extension TreePlace.Kind {
    fileprivate var style: TextStyle { isFinal ? .bad : .warning }
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

    private var what: [Report.Fact] {
        [
            ("identifier", "identifier", summary.identifier.map { .text($0, .name) } ?? .nothing),
            ("handle", "handle", .count(Int(clamping: handle.rawValue))),
            ("kind", "kind", .text(summary.kind.rawValue, summary.kind.isRecord ? .plain : .bad)),
            ("problem", "problem", anatomy?.problem.map { .text($0, .bad) } ?? .nothing),
        ]
    }

    private var stored: [Report.Fact] {
        let chunks = anatomy.map { Cell.text(Self.chunks(of: $0)) } ?? .nothing
        return [
            ("nameSpace", "name space", anatomy?.nameSpace.map { .text("\($0)") } ?? .nothing),
            ("version", "format version", anatomy?.version.map { .count(Int($0)) } ?? .nothing),
            ("flags", "flags", anatomy.map { .texts($0.flagNames) } ?? .nothing),
            ("shape", "shape", shape), ("types", "types", .texts(anatomy?.shape?.types ?? [])),
            ("fields", "fields", .texts(anatomy?.shape?.fields.map(\.name) ?? [])),
            (
                "dictionary", "dictionary",
                anatomy?.dictionaryNumber.map(DictionaryName.cell) ?? .nothing
            ),
            ("rawBytes", "not compressed", anatomy?.rawByteCount.map(Cell.size) ?? .nothing),
            ("storedBytes", "as stored", anatomy.map { .size($0.storedByteCount) } ?? .nothing),
            (
                "ratio", "ratio",
                Cell.ratio(raw: anatomy?.rawByteCount, stored: anatomy?.storedByteCount)
            ),
            ("chunks", "chunks", chunks),
            ("children", "children", anatomy?.children.map { .count($0.count) } ?? .nothing),
        ]
    }

    private static func chunks(of anatomy: RecordAnatomy) -> String {
        guard let named = anatomy.namedChunks else { return "none" }
        return named == anatomy.chunks.count ? "\(named)" : "\(anatomy.chunks.count) of \(named)"
    }

    private var shape: Cell {
        guard let anatomy else { return .nothing }
        if anatomy.hasOwnShape { return .text("its own") }
        guard let number = anatomy.shapeNumber else { return .nothing }
        return .text(number == 0 ? "none" : "\(number)")
    }

    private var used: [Report.Fact] {
        let isThere = summary.kind != .nothing
        return [
            ("references", "references to it", summary.references.map(Cell.count) ?? .nothing),
            ("stamp", "last use, stamp", stamp),
            ("age", "last use, accesses ago", Self.count(summary.age)),
            ("ageSeconds", "last use, time ago", .seconds(summary.time)),
            ("state", "state", isThere ? .texts(stateNames) : .nothing),
        ]
    }

    private static func count(_ count: Int?) -> Cell { count.map(Cell.count) ?? .nothing }

    private var stamp: Cell {
        guard summary.kind != .nothing, let state, state.stamp > .never else { return .nothing }
        return .count(Int(clamping: state.stamp.rawValue))
    }

    private var stateNames: [String] {
        guard let state else { return ["damaged"] }
        let names: [(StateEntry.Flags, String)] = [
            (.tombstone, "deleted"), (.lost, "lost"), (.nameless, "without a name"),
            (.onCycle, "on a cycle"),
            (.blocked, "blocked"), (.pendingRemoval, "pending removal"), (.timed, "expires"),
        ]
        return (summary.isPinned ? ["pinned"] : [])
            + names.filter { state.flags.contains($0.0) }.map(\.1)
    }
}
#endif
