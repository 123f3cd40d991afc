import Foundation

@testable import EspalierLMDB

/// What `StructureTests` runs, each in a process of its own.
enum DamagedFiles {
    struct Unexpected: Error {}

    static let shapes = [Shape.churned, .manySmall, .longKeys, .largeFreeList, .shrunkValues]

    /// Damages a file in a different way for every seed.
    static func run(seeds: Range<Int>) throws {
        quiet()
        var refused = 0
        for shape in shapes {
            let scratch = try Scratch()
            try shape.build(in: scratch).close()
            let image = try scratch.image()
            for seed in seeds where seed % shapes.count == shapes.firstIndex(of: shape) {
                var random = PageTests.Sequence(state: UInt64(seed))
                let damage = Damage.allCases[seed / shapes.count % Damage.allCases.count]
                try scratch.replace(by: damage.apply(to: image, &random))
                if try !use(scratch) { refused += 1 }
            }
        }
        // Of the kinds of damage only those that hit values or free pages may pass.
        guard refused > seeds.count / 2 else { throw Unexpected() }
    }

    /// Reads everything and writes a lot; `false` when the file is refused.
    private static func use(_ scratch: Scratch) throws -> Bool {
        let environment: Environment
        do {
            environment = try scratch.open(mapSize: 8 << 20)
        } catch {
            guard [.corrupted, .invalidFile, .versionMismatch].contains(error.code) else {
                throw error
            }
            return false
        }
        defer { environment.close() }
        for keyspace in [environment.nodes, environment.index] {
            try environment.read { transaction in
                try transaction.withCursor(keyspace) { cursor in
                    while try cursor.next() { cursor.withEntry(touch) }
                }
                _ = try transaction.listedFreePages()
            }
        }
        var random = PageTests.Sequence(state: 1)
        try Shape.churn(environment, rounds: 40, &random)
        return true
    }

    /// No value of ours is longer than a page: when its ends can be read, all of it can.
    private static func touch(_ key: RawSpan, _ value: RawSpan) {
        for span in [copy(key), copy(value)] { _ = (span.first, span.last) }
    }

    /// Damaged files that are marked as intact by hand, so that nobody looks.
    static func runUnchecked() throws {
        quiet()
        let scratch = try Scratch()
        try Shape.churned.build(in: scratch).close()
        let image = try scratch.image()
        for seed in UInt64(0)..<100 {
            var random = PageTests.Sequence(state: seed)
            let damage = [Damage.cutAtPage, .zeroedPage, .wrongRoot, .bitInHeader][Int(seed % 4)]
            try scratch.replace(by: damage.apply(to: image, &random))
            let folder = try OpenFile(directory: scratch.directory, .open)
            guard let status = try folder.status(of: EnvironmentFiles.data, .open) else {
                throw Unexpected()
            }
            scratch.guardFile.setMark(IntactMark(status).durable)
            do { _ = try use(scratch) } catch is LMDBError {}
        }
    }
}
