import EspalierRecords
import EspalierStore

/// The same message twice: as the tree that Swift sees, and as the records it is stored in.
struct TreeAndRecords {
    let tree: Outline
    /// In the order in which the tree names them, each once.
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

/// Records as outlines, from one down.
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
    /// As Swift sees it: every model stands where it is shown.
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
