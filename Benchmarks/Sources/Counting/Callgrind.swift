import Foundation
import Synchronization

/// Runs this program again inside valgrind's callgrind.
enum Callgrind {
    static let warmUp = 2
    /// Takes the smallest count: threads that spin for each other, and tables that grow now and
    /// then, add to the others.
    static let rounds = 5

    enum Failure: Error, CustomStringConvertible {
        case status(Int32, String)
        case noLog(String)
        case noTotal(String)

        var description: String {
            switch self {
            case .status(let status, let output): "valgrind ended with \(status):\n" + output
            case .noLog(let file): "\(file) can't be made"
            case .noTotal(let file): "callgrind wrote no total into \(file)"
            }
        }
    }

    private static let path = ["/usr/bin/valgrind", "/usr/local/bin/valgrind"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static var isInstalled: Bool { path != nil }

    /// Starts a process for each operation, so that background work of one does not count for
    /// another.
    static func counts(of names: [String]) throws -> Counts {
        let directory =
            NSTemporaryDirectory()
            + "espalier-instructions-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let results = Mutex<[String: Result<Int, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: names.count) { index in
            let name = names[index]
            let result = Result { try count(of: name, in: directory) }
            results.withLock { $0[name] = result }
        }
        return Counts(byName: try results.withLock { try $0.mapValues { try $0.get() } })
    }

    private static func count(of name: String, in directory: String) throws -> Int {
        let dump = directory + "/" + name
        try run(name, dump: dump, log: dump + "-log")
        return try (1...rounds).map { try total(of: "\(dump).\($0)") }.min() ?? 0
    }

    private static func run(_ name: String, dump: String, log: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: path ?? "")
        process.arguments =
            [
                "--tool=callgrind", "--callgrind-out-file=\(dump)", "--zero-before=counting_begins",
                "--dump-before=counting_ends",
                Bundle.main.executablePath ?? CommandLine.arguments[0],
                InstructionsCommand.name, "run", name,
            ]
        var environment = ProcessInfo.processInfo.environment
        // Otherwise each process would have another seed for hashing.
        environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
        process.environment = environment
        guard FileManager.default.createFile(atPath: log, contents: nil) else {
            throw Failure.noLog(log)
        }
        let handle = FileHandle(forWritingAtPath: log)
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure.status(
                process.terminationStatus, try String(contentsOfFile: log, encoding: .utf8))
        }
    }

    /// Returns the number in the line `totals: 123` of a dump.
    private static func total(of file: String) throws -> Int {
        let prefix = "totals: "
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        guard
            let total = lines.last(where: { $0.hasPrefix(prefix) }).flatMap({
                Int($0.dropFirst(prefix.count))
            })
        else {
            throw Failure.noTotal(file)
        }
        return total
    }
}
