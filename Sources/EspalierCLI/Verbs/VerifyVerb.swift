import ArgumentParser
import EspalierStore

/// `espalier verify`: checks every record and every invariant of a cache.
struct VerifyVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks every record and every invariant of the cache.",
        discussion: "Prints what it found, and exits with 2 if there are problems.")

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        let report: VerifyReport
        do {
            report = try cache.verify()
        } catch {
            throw self.cache.failure(error)
        }
        try output.print(report)
        guard report.isClean else {
            throw CommandFailure("\(self.cache.cache): \(report.problemCount) problems", kind: .miss)
        }
    }
}
