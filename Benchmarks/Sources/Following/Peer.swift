import ArgumentParser
import Espalier
import Foundation

/// The other process of a measurement: writes, or listens, until its input ends.
struct Peer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peer", shouldDisplay: false)

    @Argument var directory: String
    @Option var commits = 0
    @Option var people = 50
    @Option var pause = 0
    @Flag var listens = false

    func run() async throws {
        let cache = try NormalizedCache(
            directory: directory, configuration: Configuration(budget: .mebibytes(50)))
        let changes = listens ? cache.changes() : nil
        let listening = Task.detached {
            guard let changes else { return }
            for await _ in changes {}
        }
        print("ready")
        fflush(nil)
        for number in 0..<commits {
            let id = Int.random(in: 0..<people)
            try await cache.set(Person(id: id, name: "\(number)", time: Person.now)).committed
            if pause > 0 { usleep(UInt32(Int.random(in: 0...2 * pause))) }
        }
        if commits > 0 { print("done") }
        fflush(nil)
        while readLine() != nil {}
        cache.close()
        await listening.value
    }

    /// Starts another process of this program.
    final class Running {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = ["peer"] + arguments
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            try waitForLine()
        }

        /// Blocks until the process prints a line.
        func waitForLine() throws {
            while let byte = try output.fileHandleForReading.read(upToCount: 1) {
                if byte.isEmpty || byte == Data("\n".utf8) { return }
            }
        }

        func end() throws {
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }
}
