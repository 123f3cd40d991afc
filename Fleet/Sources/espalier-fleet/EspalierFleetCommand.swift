import ArgumentParser
import EspalierFleet
import EspalierRedis
import EspalierSharedRecords
import EspalierStore
import Foundation

/// The command `espalier-fleet`: looks at the servers of a fleet, and fills near caches.
@main
struct EspalierFleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "espalier-fleet",
        abstract: "Looks at a normalized cache that many hosts share on Redis servers.",
        discussion: """
            The password of the servers is that in the environment variable \
            ESPALIER_FLEET_PASSWORD.
            """,
        subcommands: [Statistics.self, Verify.self, Warm.self, Watch.self])

    func run() throws { throw CleanExit.helpRequest(self) }

    /// Runs the command. Ends with 1 if it fails, with 2 if a check finds a problem or a record is
    /// missing, as `espalier` does, and with 64 for wrong arguments.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error where exitCode(for: error) == .failure && !(error is ExitCode) {
            note("\(error)")
            Foundation.exit(1)
        } catch {
            exit(withError: error)
        }
    }
}

/// Writes a message to standard error.
func note(_ message: String) {
    FileHandle.standardError.write(Data("espalier-fleet: \(message)\n".utf8))
}

/// The exit code of a check that finds a problem.
let problemFound = ExitCode(2)

/// The servers, and the prefix of their keys.
struct ServerOptions: ParsableArguments {
    @Option(
        name: .customLong("server"),
        help: ArgumentHelp(
            "A server; once for each, in the order that the hosts have.", valueName: "host:port"))
    var servers: [String] = ["127.0.0.1:6379"]

    @Option(help: "What the keys of the fleet begin with.")
    var prefix = "espalier"

    var configuration: FleetConfiguration {
        get throws {
            let password = ProcessInfo.processInfo.environment["ESPALIER_FLEET_PASSWORD"]
            var configuration = FleetConfiguration(
                servers: try servers.map { text in
                    guard let colon = text.lastIndex(of: ":"),
                        let port = Int(text[text.index(after: colon)...]), colon > text.startIndex
                    else { throw ValidationError("\(text) is no server. Write host:port.") }
                    return RedisAddress(
                        host: String(text[..<colon]), port: port, password: password)
                })
            configuration.prefix = prefix
            configuration.timeout = .seconds(5)
            return configuration
        }
    }
}

/// Prints a value as JSON.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// Prints rows in columns, all but the first one to the right.
func printTable(_ rows: [[String]]) {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
        let cells = row.enumerated().map { column, cell in
            let space = String(repeating: " ", count: widths[column] - cell.count)
            return column == 0 ? cell + space : space + cell
        }
        print(cells.joined(separator: "  "))
    }
}

struct Statistics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Prints what the servers hold.")

    @OptionGroup var options: ServerOptions
    @Flag(help: "Count the records, which looks at all keys.") var all = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let inspector = FleetInspector(try options.configuration)
        let servers = try await inspector.statistics(countsRecords: all)
        if json { return try printJSON(servers) }
        let head = [
            "server", "version", "memory", "limit", "policy", "evicted", "followers", "commit",
            "changes", "shapes",
        ]
        var rows = [head + (all ? ["nodes", "keys", "collections"] : [])]
        for server in servers {
            let records = server.records ?? [:]
            rows.append(
                [
                    server.name, server.version, "\(server.memory)",
                    server.memoryLimit == 0 ? "none" : "\(server.memoryLimit)",
                    server.evictionPolicy, "\(server.evictedKeys)", "\(server.followers)",
                    "\(server.commits)", "\(server.changes)", "\(server.shapes)",
                ]
                    + (all
                        ? ["node", "key", "collection"].map { "\(records[$0] ?? 0)" } : []))
        }
        printTable(rows)
    }
}

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads and checks all records; exits with 2 if something is wrong.")

    @OptionGroup var options: ServerOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let found = try await FleetInspector(try options.configuration).verify()
        if json {
            try printJSON(found)
        } else {
            printTable([
                ["records", "tombstones", "incomplete", "newer", "problems"],
                [found.records, found.tombstones, found.incomplete, found.newer]
                    .map(String.init) + ["\(found.problems.count)"],
            ])
            for problem in found.problems {
                print("\(problem.server)  \(problem.key)  \(problem.detail)")
            }
        }
        if !found.problems.isEmpty { throw problemFound }
    }
}

/// Thrown if a server does not answer.
private struct Unreachable: Error, CustomStringConvertible {
    let description = "A server can't be reached. Nothing was fetched."
}

struct Warm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fills the near cache of a host with trees, while the host is down.")

    @OptionGroup var options: ServerOptions
    @Option(help: "The directory of the near cache.") var near: String
    @Option(help: "How many levels of children to follow.") var depth = 16
    @Argument(help: "Identifiers of nodes; - reads them from standard input, one a line.")
    var identifiers: [String]

    func validate() throws {
        if identifiers.contains("") { throw ValidationError("An identifier is empty.") }
    }

    func run() async throws {
        var configuration = try options.configuration
        configuration.near = .directory(near)
        let cache = try SharedCache(configuration)
        defer { cache.close() }
        guard await cache.waitUntilCurrent() else {
            throw Unreachable()
        }
        var names = identifiers.filter { $0 != "-" }
        if identifiers.contains("-") {
            while let line = readLine() { if !line.isEmpty { names.append(line) } }
        }
        var (count, missing) = (0, [String]())
        for start in stride(from: 0, to: names.count, by: 100) {
            let part = Array(names[start..<min(start + 100, names.count)])
            let outcome = try await cache.warm(part, depth: depth)
            count += outcome.records
            missing += outcome.missing
        }
        print(count == 1 ? "1 record is near" : "\(count) records are near")
        for name in missing {
            note("no server has \(name)")
        }
        if !missing.isEmpty { throw problemFound }
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints each commit of any host, until it is stopped.")

    @OptionGroup var options: ServerOptions
    @Option(help: "End after that many commits.") var count: Int?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("Write a --count of at least 1.") }
    }

    func run() async throws {
        var left = count ?? .max
        for try await commit in FleetInspector(try options.configuration).commits() {
            let names =
                commit.written.map { "\($0)" } + commit.deleted.map { "deleted \($0)" }
            print(
                commit.server, commit.number, "host \(commit.version.host)",
                names.joined(separator: ", "))
            left -= 1
            if left <= 0 { return }
        }
    }
}
