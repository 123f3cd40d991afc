#if CommandLine
import ArgumentParser
import EspalierRecords
import EspalierStore
import Foundation

/// `espalier outbox`: lists the operations that an app wants to send, drops some, or lets dead
/// letters wait again.
struct OutboxCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Lists the operations that wait to be sent, and dead letters; drops or retries.",
        discussion: """
            Operations are listed in the order in which they were added. A dead letter is one that \
            the server has refused or whose attempts are used up; it waits without its optimistic \
            change. --drop removes an operation and takes its change back. --retry lets a dead \
            letter wait again. Both take its id, and may be repeated. Sending is up to the app. \
            Exits with 2 if there is no operation of that id.
            """)

    @OptionGroup var cache: CacheArgument

    @Option(help: ArgumentHelp("The outbox; by default all of them.", valueName: "outbox"))
    var name: String?

    @Option(help: ArgumentHelp("Removes an operation.", valueName: "id"))
    var drop: [String] = []

    @Option(help: ArgumentHelp("Lets a dead letter wait again.", valueName: "id"))
    var retry: [String] = []

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard let id = drop.first(where: retry.contains) else { return }
        throw ValidationError("--drop and --retry cannot name the same operation: \(id).")
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        let entries = try cache.outboxEntries(name)
        // All are looked up first, so that a wrong id changes nothing.
        let dropped = try drop.map { try find($0, in: entries) }
        let retried = try retry.map { try find($0, in: entries) }
        for entry in dropped {
            try await outbox(of: entry, in: cache).drop(entry.id.string).committed
        }
        for entry in retried {
            try await outbox(of: entry, in: cache).retry(entry.id.string).committed
        }
        guard drop.isEmpty && retry.isEmpty else { return }
        try output.print(Self.report(of: entries, now: Date()))
    }

    private func find(_ id: String, in entries: [OutboxEntry]) throws -> OutboxEntry {
        let found = entries.filter { $0.id == Identifier(id) }
        guard let entry = found.first else {
            throw CommandFailure("\(id): no operation of this id", kind: .miss)
        }
        guard found.count == 1 else {
            let names = found.map(\.outbox.string).joined(separator: ", ")
            throw CommandFailure("\(id): in several outboxes: \(names); choose one by --name")
        }
        return entry
    }

    private func outbox(of entry: OutboxEntry, in cache: NormalizedCache) -> Outbox<String> {
        cache.outbox(entry.outbox.string)
    }

    static func report(of entries: [OutboxEntry], now: Date) -> Report {
        let columns: [TableColumn] = [
            .left("outbox"), .left("id"), .left("key"), .left("state"), .right("attempts"),
            .right("ageSeconds", "age"), .left("change"), .left("failure"), .left("operation"),
        ]
        let rows: [[Cell]] = entries.map { entry in
            [
                .text(entry.outbox.string, .name), .text(entry.id.string, .name),
                .text(entry.key.string),
                .text(entry.isDead ? "dead" : "waiting", entry.isDead ? .bad : .plain),
                .count(entry.attempts),
                .seconds(max(0, Int(now.timeIntervalSince(entry.addedAt.date)))),
                .mark(entry.hasChange), .text(entry.failure),
                .text(String(decoding: entry.payload, as: UTF8.self)),
            ]
        }
        return Report(.list, columns: columns, rows: rows)
    }
}
#endif
