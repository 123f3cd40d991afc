import CFaults
import Foundation
import Glibc

/// Attacks the cache, and reports the results.
@main
struct Torture {
    static let usage = """
        usage: torture short [--seed N] [--scratch DIRECTORY]
               torture long --minutes M [--seed N] [--scratch DIRECTORY]
               torture run ATTACK [--tries N] [--seed S] [--scratch DIRECTORY]
               torture run kill --processes P [--tries N] [--seed S] [--scratch DIRECTORY]

        ATTACK is \(Campaign.attacks.map(\.name).joined(separator: ", ")).
        """

    static func main() {
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            exit(try run(arguments))
        } catch let mistake as Mistake {
            print("torture: \(mistake)\n\n\(usage)")
            exit(64)
        } catch {
            Console.say("torture: \(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        switch arguments.words.first {
        case "short": return try Campaign(arguments).runShort() ? 0 : 1
        case "long":
            return try Campaign(arguments).runLong(minutes: try arguments.number("minutes", 60))
                ? 0 : 1
        case "run" where arguments.words.count == 2:
            let processes = try arguments["processes"].map { _ in
                try arguments.number("processes", 1)
            }
            return try Campaign(arguments)
                .runOne(arguments.words[1], arguments["tries"], processes: processes) ? 0 : 1
        default: return try runChild(arguments)
        }
    }

    /// The commands of the children.
    private static func runChild(_ arguments: Arguments) throws -> Int32 {
        faults_die_with_parent()
        switch arguments.words {
        case ["work"]:
            var worker = try Worker(arguments)
            try worker.run()
            return 0
        case ["check"]:
            let verdict = try Check(arguments).run()
            Console.say(verdict.detail)
            return verdict.status
        case ["read"]:
            let verdict = try Reader(arguments).run()
            Console.say(verdict.detail)
            return verdict.status
        default: throw Mistake("there is no such command")
        }
    }
}
