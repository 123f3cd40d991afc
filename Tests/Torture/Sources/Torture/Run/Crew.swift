import Glibc

/// A cache directory, and the workers on it.
final class Crew {
    let directory: String
    let budget: Int
    /// The largest budget that workers may have set.
    var largestBudget: Int
    /// How long a check may take, in seconds.
    var patience = 20.0
    private let root: String
    private var progressOf: [Int: Progress] = [:]
    /// Options that all children of this cache get.
    private let options: [String]

    init(_ scratch: Scratch, budget: Int, options: [String] = []) throws {
        self.budget = budget
        largestBudget = budget
        self.options = options
        root = try scratch.directory("crew")
        directory = root + "/cache"
    }

    /// Removes the cache. The caches of failed tries are kept, to be examined.
    func remove() { Files.remove(root) }

    private func path(_ name: String) -> String { "\(root)/\(name)" }

    /// The sum of the sizes of all files, in bytes.
    var bytes: Int { Files.bytes(below: directory) }

    func progress(_ owner: Int) throws -> Progress {
        if let progress = progressOf[owner] { return progress }
        let progress = try Progress(path("progress-\(owner)"))
        progressOf[owner] = progress
        return progress
    }

    /// Copies another cache, and the notes of its workers.
    func adopt(_ other: Crew, owners: Int) throws {
        try Files.copy(other.directory, to: directory)
        for owner in 0..<owners {
            try Files.copy(other.path("progress-\(owner)"), to: path("progress-\(owner)"))
        }
    }

    /// Returns the last line that a worker has printed.
    func output(_ owner: Int) -> String { Files.lastLine(of: path("output-\(owner)")) }

    private var common: [String] { ["--directory", directory, "--budget", "\(budget)"] + options }

    func worker(_ owner: Int, _ flavour: Worker.Flavour, seed: Int, _ more: [String] = []) throws
        -> Child
    {
        let progress = try progress(owner)
        for word in [Progress.Word.state, .stop, .began, .longest] { progress[word] = 0 }
        return try Child(
            [
                "work", "--progress", path("progress-\(owner)"), "--owner", "\(owner)",
                "--flavour", flavour.rawValue, "--seed", "\(seed)",
            ] + common + more, output: path("output-\(owner)"))
    }

    /// Starts a process that reads from many threads.
    func reader(_ owner: Int, _ more: [String]) throws -> Child {
        _ = try progress(owner)
        return try Child(
            ["read", "--progress", path("progress-\(owner)")] + common + more,
            output: path("output-\(owner)"))
    }

    /// Runs a worker to its end.
    func work(
        _ owner: Int, _ flavour: Worker.Flavour, seed: Int, operations: Int, _ more: [String] = [],
        seconds: Double = 20
    ) throws -> Child.Ending {
        try worker(owner, flavour, seed: seed, ["--operations", "\(operations)"] + more)
            .wait(seconds: seconds)
    }

    /// Checks the cache in a child.
    ///
    /// - Parameters:
    ///   - owners: The workers of which every acknowledged tree has to be there.
    ///   - more: Further options.
    func check(owners: Int, _ more: [String] = [], seconds: Double? = nil) throws
        -> (ending: Child.Ending, line: String)
    {
        for owner in 0..<owners { _ = try progress(owner) }
        let files = (0..<owners).map { path("progress-\($0)") }.joined(separator: ",")
        return try Child.run(
            ["check"] + (owners > 0 ? ["--progress", files] : []) + common + more,
            output: path("check"), seconds: seconds ?? patience)
    }

    /// Checks the cache. If something is not clean, checks it again, because the first opening
    /// repairs it. Returns what is wrong, or `nil`.
    func finding(owners: Int, _ more: [String] = []) throws -> String? {
        var result = try check(owners: owners, more)
        if result.ending == .exited(Verdict.uncleanStatus) {
            result = try check(owners: owners, more)
        }
        return result.ending == .exited(0) ? nil : "\(result.ending), \(result.line)"
    }

    var place: String { "in \(directory)" }
}
