import ArgumentParser
import EspalierStore

/// `espalier verify`: checks every record and every invariant of a cache.
struct VerifyVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks every record and every invariant of the cache.",
        discussion: """
            Prints what it found, and exits with 2 if there are problems. With --deep it decodes every value, and follows every \
            reference from every name: "unreadableTrees" are the trees of which a part can't be read, each of which is a miss, and each \
            problem says where.
            """)

    @OptionGroup var cache: CacheArgument

    @Flag(help: "Decodes every value and walks every tree, too.")
    var deep = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        let report: VerifyReport
        do {
            report = try cache.verify(deep: deep)
        } catch {
            throw self.cache.failure(error)
        }
        try output.print(report)
        guard report.isClean else {
            throw CommandFailure(
                "\(self.cache.cache): \(report.problemCount) problems", kind: .miss)
        }
    }
}
