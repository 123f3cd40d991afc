import EspalierRecords
import EspalierStore

/// What is known of one record besides its content: how it is stored, and what the cache keeps
/// about it.
struct RecordProfile {
    let handle: Handle
    let summary: RecordSummary
    /// Nil where there are no bytes: deleted, lost, or nothing.
    let anatomy: RecordAnatomy?
    /// Nil where it is damaged.
    let state: StateEntry?

    init(of handle: Handle, in inspection: Inspection) throws {
        self.handle = handle
        summary = try RecordSummaries(inspection).summary(of: handle)
        anatomy = try inspection.anatomy(of: handle)
        state = try inspection.state(of: handle)
    }

    /// Named `name.…` for programs.
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
