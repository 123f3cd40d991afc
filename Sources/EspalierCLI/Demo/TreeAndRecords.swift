#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The same message twice: as the tree that Swift sees, and as the records in the cache.
struct TreeAndRecords {
    let tree: Outline
    /// Each record once, in the order in which the tree refers to them.
    let records: [Outline]

    init(_ message: Message, in cache: NormalizedCache) throws {
        tree = message.outline
        records = try cache.inspect { inspection in
            var collected = RecordCollection(inspection)
            if let handle = try inspection.handle(of: message.modelIdentifier ?? "", in: .node) {
                try collected.add(handle)
            }
            return collected.outlines
        }
    }

    var sideBySide: SideBySide {
        SideBySide(
            left: ("the tree, as Swift sees it", tree.lines),
            right: ("the records, as they are stored", records.flatMap(\.lines)))
    }
}

/// Makes outlines of a record and of all records below it.
private struct RecordCollection {
    private let inspection: Inspection
    private var names: RecordNames
    private var seen: Set<Handle> = []
    private(set) var outlines: [Outline] = []

    init(_ inspection: Inspection) {
        self.inspection = inspection
        names = RecordNames(inspection)
    }

    mutating func add(_ handle: Handle) throws {
        guard seen.insert(handle).inserted, case .record(let record) = try inspection.record(handle)
        else { return }
        var outline = Outline(
            line: StyledLine(record.identifier, .name)
                + StyledLine("  \(record.storedByteCount) bytes", .faint))
        for (field, value) in try record.fields() {
            outline.branches.append(try branch(field.name, value, record.children))
        }
        outlines.append(outline)
        for child in record.children { try add(child) }
    }

    private mutating func branch(_ name: String, _ value: RecordValue, _ children: [Handle]) throws
        -> Outline
    {
        guard case .array(let elements) = value else {
            return Outline(label: name, line: try line(value, children))
        }
        let branches = try elements.map { Outline(line: try line($0, children)) }
        return Outline(label: name, line: StyledLine(), branches: branches)
    }

    private mutating func line(_ value: RecordValue, _ children: [Handle]) throws -> StyledLine {
        switch value {
        case .child(let ordinal):
            let name = try names[children[ordinal]]
            return StyledLine("→ ") + StyledLine(name.shown, name.style)
        case .string(let text): return StyledLine("\"\(text)\"")
        case .null, .absent: return StyledLine("nil", .faint)
        default: return StyledLine("\(value)")
        }
    }
}

extension Message {
    /// The message as Swift sees it: every model stands where it is shown.
    fileprivate var outline: Outline {
        Outline(
            line: StyledLine(modelIdentifier ?? "", .name),
            branches: [
                .field("id", id), .field("text", text), sender.outline(label: "sender"),
                attachment?.outline
                    ?? Outline(label: "attachment", line: StyledLine("nil", .faint)),
                Outline(label: "likes", line: StyledLine(), branches: likes.map { $0.outline() }),
            ])
    }
}

extension Person {
    fileprivate func outline(label: String = "") -> Outline {
        Outline(
            label: label, line: StyledLine(modelIdentifier ?? "", .name),
            branches: [.field("id", id), .field("name", name)])
    }
}

extension Attachment {
    fileprivate var outline: Outline {
        Outline(
            label: "attachment", line: StyledLine(modelIdentifier ?? "", .name),
            branches: [.field("id", id), .field("title", title)])
    }
}

extension Outline {
    fileprivate static func field(_ name: String, _ value: String) -> Outline {
        Outline(label: name, line: StyledLine("\"\(value)\""))
    }
}

/// A tree to be drawn: a line, and branches below it.
///
///     Message:1
///     ├ text    "Meow"
///     └ sender  Person:1
///       └ name  "Ada"
struct Outline: Sendable, Equatable {
    /// The name of a field, which stands before the line, in a column of its own.
    var label = ""
    var line: StyledLine
    var branches: [Outline] = []

    /// The lines of the drawing. The values of all levels stand in one column.
    var lines: [StyledLine] {
        let column = labelColumns
        return [line] + branches.drawn(behind: "", column: column)
    }

    /// The width of the widest label, with the branches before it.
    private var labelColumns: Int {
        branches.map { 2 + max($0.label.terminalColumns, $0.labelColumns) }.max() ?? 0
    }
}

extension [Outline] {
    fileprivate func drawn(behind stem: String, column: Int) -> [StyledLine] {
        enumerated().flatMap { index, branch -> [StyledLine] in
            let isLast = index == count - 1
            let start = StyledLine(stem + (isLast ? "└ " : "├ "), .faint)
            return [start + branch.labelled(upTo: column - start.columns)]
                + branch.branches.drawn(behind: stem + (isLast ? "  " : "│ "), column: column)
        }
    }
}

extension Outline {
    fileprivate func labelled(upTo column: Int) -> StyledLine {
        guard !label.isEmpty else { return line }
        guard line.columns > 0 else { return StyledLine(label) }
        return StyledLine(label).fitted(to: column) + StyledLine("  ") + line
    }
}

/// Two texts in columns of the same width, each under its title.
///
///     the tree         │  the records
///     Message:1        │  Message:1
///     └ sender  …      │  └ sender  → Person:1
struct SideBySide: Sendable {
    let left: (title: String, lines: [StyledLine])
    let right: (title: String, lines: [StyledLine])

    private static let separator = " │ "

    /// Returns lines of at most `width` columns without trailing spaces. Text that does not fit
    /// ends in an ellipsis.
    func lines(width: Int) -> [StyledLine] {
        let half = max(1, (width - Self.separator.terminalColumns) / 2)
        let left = [StyledLine(left.title, .title)] + left.lines
        let right = [StyledLine(right.title, .title)] + right.lines
        return (0..<max(left.count, right.count)).map { index in
            let start = index < left.count ? left[index] : StyledLine()
            guard index < right.count, right[index].columns > 0 else {
                return start.fitted(to: half)
                    + StyledLine(String(Self.separator.dropLast()), .faint)
            }
            return start.fitted(to: half) + StyledLine(Self.separator, .faint)
                + right[index].cut(to: half)
        }
    }
}
#endif
