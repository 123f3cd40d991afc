/// What was before a change and what is after it; what differs stands out.
struct Comparison: Sendable {
    private(set) var table = Table(columns: [.left("reading"), .right("before"), .right("after")])

    mutating func add(_ what: String, _ before: String, _ after: String) {
        table.append([
            Table.Cell(what), Table.Cell(before),
            Table.Cell(after, before == after ? .plain : .good),
        ])
    }

    /// How many messages there are of which `condition` holds.
    mutating func count(
        _ what: String, _ before: [Message], _ after: [Message],
        where condition: (Message) -> Bool = { _ in true }
    ) {
        add(what, before.count(where: condition).grouped, after.count(where: condition).grouped)
    }
}
