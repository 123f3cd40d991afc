import EspalierModels
import EspalierRecords
import EspalierStore

/// How the read of an entry goes, and why: what `get --explain` tells.
struct ReadExplanation {
    let entry: IndexEntry
    /// Nil for a hit.
    let reason: MissReason?
    /// Whether a reference back is left out.
    let isCut: Bool
    let survey: TreeSurvey
    let record: RecordProfile
    /// Where a read stops, if that is not the entry's own record.
    let stop: RecordProfile?

    /// Nil where there is no such entry.
    init?(of entry: EntryOptions.Entry, in inspection: Inspection) throws {
        guard let found = try entry.indexEntry(in: inspection) else { return nil }
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

    /// Where a miss is; nil for one that is at no place. A read names an entry that is no node
    /// without the way inside it.
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
        groups.append(("where every read stops", facts(of: final, from: 0)))
        groups.append(
            ("where a type stops that can't do without", facts(of: typed, from: final.count)))
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

    /// Places are objects in an array, in the order of the walk; `stop` is null where the read
    /// stopped at nothing else.
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
