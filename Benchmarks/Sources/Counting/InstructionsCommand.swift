package import ArgumentParser
import CMarks
import Foundation
import Operations

/// Counts instructions by simulating the processor: the count is nearly the same in every run.
package struct InstructionsCommand: ParsableCommand {
    package static let name = "instructions"
    package static let configuration = CommandConfiguration(
        commandName: "Micro \(name)",
        abstract: "Counts what the promised operations execute, and compares with thresholds.",
        subcommands: [Check.self, Run.self], defaultSubcommand: Check.self)

    package init() {}
}

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Counts by callgrind, and fails where thresholds are not met.")

    @Option(help: "What the counts have to be.") var thresholds =
        "Thresholds/instructions.\(architecture).json"
    @Flag(help: "Makes these counts the thresholds.") var update = false
    @Option(help: "The only operations to count.") var only: [String] = []

    func run() throws {
        guard Callgrind.isInstalled else {
            throw ValidationError(
                "Instructions are counted by valgrind, which is missing: make setup-bench installs it."
            )
        }
        let operations = Operation.all.filter { only.isEmpty || only.contains($0.name) }
        let counts = try Callgrind.counts(of: operations.map(\.name))
        var known = try Counts(contentsOf: thresholds)
        if update {
            for (name, count) in counts.byName { known.byName[name] = count }
            try known.write(to: thresholds)
        } else if known.byName.isEmpty {
            return print(
                "instructions: there are no thresholds for \(architecture); `--update` writes them")
        }
        let verdicts = Verdicts(
            counts: counts, thresholds: known,
            subjects: operations.map { Verdicts.Subject(name: $0.name, tolerance: $0.tolerance) })
        print(verdicts.table)
        guard verdicts.isKept else { throw ExitCode.failure }
    }
}

/// The command that runs inside the simulation.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Does each operation.", shouldDisplay: false)

    @Argument var name: String

    // Uses a synchronous `main`: an asynchronous one lets the main thread end, which valgrind does
    // not survive.
    func run() {
        Task { [name] in
            do {
                try await Self.run(name)
                Self.exit()
            } catch {
                Self.exit(withError: error)
            }
        }
        RunLoop.main.run()
    }

    private static func run(_ name: String) async throws {
        guard let operation = Operation.all.first(where: { $0.name == name }) else {
            throw ValidationError("There is no operation '\(name)'.")
        }
        let next = try await operation.start()
        for number in 0..<Callgrind.warmUp + Callgrind.rounds {
            let measured = try next(number)
            let isCounted = number >= Callgrind.warmUp
            if isCounted { counting_begins() }
            try await measured()
            if isCounted { counting_ends() }
        }
    }
}

#if arch(x86_64)
let architecture = "x86_64"
#elseif arch(arm64)
let architecture = "arm64"
#else
let architecture = "other"
#endif
