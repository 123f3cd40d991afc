#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Prints the changes of each commit until a signal, a number of commits, or the end of the cache.
struct ChangeWatch: Sendable {
    let cache: NormalizedCache
    let path: String
    /// The type of the nodes to print; nil for everything.
    let type: String?
    /// The number of commits to print; nil for no limit.
    let count: Int?
    let output: any OutputChoice

    func run() async throws {
        let changes = cache.changes()
        try printHeader()
        let printing = Task {
            var printed = 0
            for await change in changes {
                let commit = CommitReport(try selected(change))
                if !commit.isEmpty {
                    try print(commit)
                    printed += 1
                }
                if let count, printed >= count { return }
                if change.isReset, isGone { return }
            }
        }
        let signals = SignalWatch([SIGINT, SIGTERM]) { _ in printing.cancel() }
        defer { signals.cancel() }
        try await printing.value
    }

    /// Whether the cache was removed.
    private var isGone: Bool { !FileManager.default.fileExists(atPath: path + "/guard") }

    private func printHeader() throws {
        switch output.format {
        case .table: try Console.print(output.palette.paint(row(CommitReport.titles), .title))
        case .csv: try Console.print(CSV.line(CommitReport.titles))
        case .json: break
        }
    }

    private func print(_ commit: CommitReport) throws {
        switch output.format {
        case .table: for line in commit.lines { try Console.print(row(line)) }
        case .csv:
            for line in commit.lines {
                try Console.print(CSV.line(line, forTerminal: Terminal.isOutput))
            }
        case .json: try Console.print(commit.json, style: .compact)
        }
    }

    private func row(_ texts: [String]) -> String {
        zip(CommitReport.columns, texts).map { column, text in
            column.alignment.pad(text.withVisibleControls, to: column.width)
        }.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
    }

    // MARK: - Types

    /// Returns the changes of nodes of the type. A reset stays.
    private func selected(_ changes: ChangeSet) throws -> CommitReport.Changes {
        var selected = CommitReport.Changes(changes)
        guard let type else { return selected }
        let types = try storedTypes(of: changes.written)
        func isOfType(_ identifier: String) -> Bool {
            types[Identifier(identifier)]?.contains(type) ?? identifier.hasPrefix("\(type):")
        }
        selected.written = selected.written.filter(isOfType)
        selected.deleted = selected.deleted.filter(isOfType)
        selected.evicted = selected.evicted.filter(isOfType)
        selected.keys = []
        return selected
    }

    /// Returns the types of those nodes that are stored.
    private func storedTypes(of identifiers: [String]) throws -> [Identifier: [String]] {
        try cache.inspect { inspection in
            var types: [Identifier: [String]] = [:]
            for identifier in identifiers {
                guard let handle = try inspection.handle(of: identifier, in: .node),
                    case .record(let record) = try inspection.record(handle)
                else { continue }
                types[Identifier(identifier)] = record.shape.types
            }
            return types
        }
    }
}

/// The changes of one commit as `espalier watch` prints them.
struct CommitReport: Equatable {
    /// What a commit has changed.
    struct Changes: Equatable {
        var commit: UInt64
        /// The process; nil if it is not known.
        var process: Int32?
        var isReset = false
        var written: [String] = []
        var deleted: [String] = []
        var evicted: [String] = []
        var keys: [String] = []
    }

    let changes: Changes

    /// The columns with their least widths, so that the lines align.
    static let columns: [(title: String, alignment: TableColumn.Alignment, width: Int)] = [
        ("commit", .right, 8), ("process", .right, 8), ("change", .left, 7),
        ("identifier", .left, 1),
    ]

    static let titles = columns.map(\.title)

    init(_ changes: Changes) { self.changes = changes }

    var isEmpty: Bool {
        !changes.isReset && lists.allSatisfy(\.identifiers.isEmpty)
    }

    private var lists: [(change: String, identifiers: [String])] {
        [
            ("written", changes.written), ("deleted", changes.deleted),
            ("evicted", changes.evicted), ("key", changes.keys),
        ]
    }

    /// A line for each identifier, and one for a reset.
    var lines: [[String]] {
        let heading = [
            changes.commit == 0 ? "-" : String(changes.commit),
            changes.process.map { String($0) } ?? "-",
        ]
        let reset = changes.isReset ? [heading + ["reset", ""]] : []
        return reset
            + lists.flatMap { list in
                list.identifiers.map { heading + [list.change, $0] }
            }
    }

    var json: JSONValue {
        .object([
            JSONMember(name: "commit", value: .number(changes.commit)),
            JSONMember(
                name: "process", value: changes.process.map { .number($0) } ?? .null),
            JSONMember(name: "reset", value: .bool(changes.isReset)),
            JSONMember(name: "written", value: .strings(changes.written)),
            JSONMember(name: "deleted", value: .strings(changes.deleted)),
            JSONMember(name: "evicted", value: .strings(changes.evicted)),
            JSONMember(name: "keys", value: .strings(changes.keys)),
        ])
    }
}

extension CommitReport.Changes {
    init(_ changes: ChangeSet) {
        commit = changes.commit
        switch changes.origin {
        case .thisProcess: process = ProcessInfo.processInfo.processIdentifier
        case .anotherProcess(let number): process = number
        }
        isReset = changes.isReset
        written = changes.written
        deleted = changes.deleted
        evicted = changes.evicted
        keys = changes.keys
    }
}
#endif
