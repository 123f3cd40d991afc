import Foundation

@testable import EspalierLMDB

/// The ways in which the tests damage a file.
enum Damage: CaseIterable, Sendable {
    case bitAnywhere, bitInHeader, bitInMeta, bitInPointers, zeroedPage, randomPage, halfRandomPage,
        swappedPages,
        copiedPage
    case manyBits, cutAtPage, cutAnywhere, zeros, random, wrongRoot, wrongCount, wordInPage

    func apply(to image: Data, _ random: inout PageTests.Sequence) -> Data {
        let page = 4_096
        let pages = image.count / page
        var image = image
        func anyPage(from first: Int = 0) -> Int {
            Int.random(in: min(first, pages - 1)..<pages, using: &random) * page
        }
        func flip(_ range: Range<Int>) {
            image[Int.random(in: range, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
        func scramble(_ range: Range<Int>) {
            let words = (0..<range.count / 8 + 1).map { _ in random.next() }
            image.replaceSubrange(
                range, with: unsafe words.withUnsafeBytes { unsafe Data($0) }.prefix(range.count))
        }
        switch self {
        case .bitAnywhere: flip(0..<image.count)
        case .bitInHeader:
            let start = anyPage()
            flip(start..<start + 16)
        case .bitInMeta:
            let start = Int.random(in: 0...1, using: &random) * page
            flip(start..<start + 152)
        case .bitInPointers:
            let start = anyPage(from: 2)
            flip(start + 12..<start + 64)
        case .zeroedPage:
            let start = anyPage()
            image.replaceSubrange(start..<start + page, with: Data(count: page))
        case .randomPage:
            let start = anyPage()
            scramble(start..<start + page)
        case .halfRandomPage:
            let start = anyPage() + Int.random(in: 0...1, using: &random) * page / 2
            scramble(start..<start + page / 2)
        case .swappedPages, .copiedPage:
            let (a, b) = (anyPage(), anyPage())
            let (first, second) = (Data(image[a..<a + page]), Data(image[b..<b + page]))
            image.replaceSubrange(a..<a + page, with: second)
            if self == .swappedPages { image.replaceSubrange(b..<b + page, with: first) }
        case .manyBits: for _ in 0..<64 { flip(0..<image.count) }
        case .cutAtPage:
            image = Data(image.prefix(Int.random(in: 0..<pages, using: &random) * page))
        case .cutAnywhere:
            image = Data(image.prefix(Int.random(in: 1..<image.count, using: &random)))
        case .zeros: image = Data(count: image.count)
        case .random: scramble(0..<image.count)
        case .wrongRoot, .wrongCount:
            // The roots or the counts of both trees, in both meta pages.
            let fields =
                self == .wrongRoot
                ? [80, 128] : [46, 48, 56, 64, 72, 94, 96, 104, 112, 120, 136, 144]
            let field = fields[Int.random(in: 0..<fields.count, using: &random)]
            for start in [0, page] {
                image[start + field] &+= UInt8.random(in: 1...255, using: &random)
            }
        case .wordInPage:
            let start = anyPage(from: 2) + Int.random(in: 0..<page / 2, using: &random) * 2
            scramble(start..<start + 2)
        }
        return image
    }
}

/// The programs of `StructureTests`. Each runs in a process of its own.
enum DamagedFiles {
    struct Unexpected: Error {}

    static let shapes = [Shape.churned, .manySmall, .longKeys, .largeFreeList, .shrunkValues]

    /// Opens and uses files that are damaged in a different way for each seed.
    static func run(seeds: Range<Int>) throws {
        disableCoreFiles()
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
        // The check may accept damage in values and free pages only.
        guard refused > seeds.count / 2 else { throw Unexpected() }
    }

    /// Reads all entries and writes many. Returns `false` if the file is refused.
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

    /// Reads the ends of an entry. No value is longer than a page, so the rest can be read, too.
    private static func touch(_ key: RawSpan, _ value: RawSpan) {
        for span in [copy(key), copy(value)] { _ = (span.first, span.last) }
    }

    /// Opens and uses damaged files that are marked as intact, so that they are not checked.
    static func runUnchecked() throws {
        disableCoreFiles()
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
            do {
                _ = try FileUse.$smallFile.withValue(0) { try use(scratch) }
            } catch is LMDBError {}
        }
    }
}
