import Foundation

/// Runs this program again inside of valgrind's callgrind.
enum Callgrind {
    static let warmUp = 3
    /// The least of them counts: threads that wait for each other may spin a little longer.
    static let rounds = 3

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

    static func counts(of names: [String]) throws -> Counts {
        let directory = NSTemporaryDirectory() + "espalier-instructions-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try run(names, in: directory)
        let dumps = try (1...names.count * rounds).map { try total(of: directory + "/dump.\($0)") }
        var counts = Counts()
        for (index, name) in names.enumerated() {
            counts.byName[name] = dumps[index * rounds..<(index + 1) * rounds].min()
        }
        return counts
    }

    private static func run(_ names: [String], in directory: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: path ?? "")
        process.arguments =
            [
                "--tool=callgrind", "--callgrind-out-file=\(directory)/dump", "--zero-before=counting_begins",
                "--dump-before=counting_ends", Bundle.main.executablePath ?? CommandLine.arguments[0], "run",
            ] + names
        var environment = ProcessInfo.processInfo.environment
        // Seeds of hashing would be other ones in each process.
        environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
        process.environment = environment
        let log = directory + "/log"
        guard FileManager.default.createFile(atPath: log, contents: nil) else { throw Failure.noLog(log) }
        let handle = FileHandle(forWritingAtPath: log)
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure.status(process.terminationStatus, try String(contentsOfFile: log, encoding: .utf8))
        }
    }

    /// `totals: 123` of a dump.
    private static func total(of file: String) throws -> Int {
        let prefix = "totals: "
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        guard let total = lines.last(where: { $0.hasPrefix(prefix) }).flatMap({ Int($0.dropFirst(prefix.count)) })
        else {
            throw Failure.noTotal(file)
        }
        return total
    }
}
