import ArgumentParser
import EspalierRecords
import EspalierStore

/// `espalier refs`: what a record refers to, and what refers to it.
struct RefsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refs", abstract: "Prints what a record refers to, and what refers to it.",
        discussion: """
            A row is a reference: "to" one that the record holds, "from" one that leads to it. Paths are fields and places \
            in arrays, as in entities.media[0]; in a collection, the index of the element. A record that was deleted, lost \
            or damaged, or that is not there, is shown as that. Looking for what refers to a record reads the whole cache, \
            once for each step of --depth.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @Option(help: ArgumentHelp("How many references far, in both directions.", valueName: "steps"))
    var depth = 1

    @Flag(
        help:
            "Prints a digraph for Graphviz, as in: espalier refs cache User:1 --dot | dot -Tsvg -o refs.svg"
    )
    var dot = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard depth >= 1 else { throw ValidationError("--depth is at least 1.") }
        guard !dot || output.format == .table else {
            throw ValidationError("--dot is a format of its own.")
        }
    }

    func run() throws {
        let (graph, names, unreadable) = try cache.inspect(explore)
        let report = ReferenceReport(graph: graph, names: names)
        if dot {
            try Console.print(DotGraph(graph: graph, names: names).text)
        } else {
            try output.print(output.format == .table ? report.table : report.list)
        }
        if unreadable > 0 {
            let records =
                unreadable == 1 ? "a damaged record refers" : "\(unreadable) damaged records refer"
            Console.note("what \(records) to is not known; verify tells more.")
        }
    }

    private func explore(
        _ inspection: Inspection
    ) throws -> (ReferenceGraph, names: [Handle: RecordName], unreadable: Int) {
        guard let found = try inspection.entry(of: entry.entry) else {
            let advice = try inspection.advice(onMissing: entry.entry)
            throw CommandFailure("\(entry.entry): not found\(advice)", kind: .miss)
        }
        let start = found.handle
        if case .damaged(let detail) = try inspection.record(of: found),
            case .record = try inspection.record(start)
        {
            throw CommandFailure("\(entry.entry): \(detail)", kind: .miss)
        }
        var finder = ReferenceFinder(inspection)
        let graph = try ReferenceGraph(around: start, depth: depth) {
            try finder.references($0, $1)
        }
        var names = RecordNames(inspection)
        var named: [Handle: RecordName] = [:]
        for handle in [start] + graph.edges.flatMap({ [$0.source, $0.target] }) {
            named[handle] = try names[handle]
        }
        return (graph, named, finder.unreadable.count)
    }
}

extension Inspection {
    /// The index entry of what a verb is about; that of a node where nothing was stored under its
    /// key.
    fileprivate func entry(of entry: EntryOptions.Entry) throws -> IndexEntry? {
        switch entry {
        case .node(let identifier): try self.entry(of: identifier, in: .node)
        case .collection(let key): try self.entry(of: key, in: .collection)
        case .key(let key): try self.entry(of: key, in: .key) ?? self.entry(of: key, in: .node)
        }
    }
}
