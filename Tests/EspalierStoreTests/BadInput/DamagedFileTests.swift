import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("An empty cache replaces a damaged file")
struct DamagedFileTests {
    @Test(
        "Opening a damaged file to write replaces it by an empty cache, whatever the damage",
        arguments: Injury.allCases)
    fileprivate func damaged(injury: Injury) async {
        await #expect(processExitsWith: .success) { [injury = injury.rawValue as String] in
            for seed in UInt64(1)...6 {
                try Injured.run(Injury(rawValue: injury) ?? .zeros, seed: seed)
            }
        }
    }

    @Test("Opening a damaged file only to look at it reports the damage and leaves the file alone")
    func existing() throws {
        let scratch = try Injured.makeCache()
        let path = try Injured.dataPath(scratch)
        try Injured.replace(scratch, by: Data(count: 65_536))
        #expect(code { _ = try NormalizedCache.existing(directory: scratch.directory) } == .damaged)
        try #expect(Data(contentsOf: URL(fileURLWithPath: path)) == Data(count: 65_536))
        let cache = try scratch.open()
        #expect(try cache.statistics().nodes == 0)
        cache.close()
    }

    @Test("A cache that was opened only to look at it keeps a file that is damaged meanwhile")
    func damagedMeanwhile() throws {
        let scratch = try Injured.makeCache()
        let path = try Injured.dataPath(scratch)
        let cache = try NormalizedCache.existing(
            directory: scratch.directory, configuration: .forTests)
        let name = try cache.generation.name
        let generation = try cache.generation
        #expect(
            code { _ = try cache.engine.generations.replace(generation, because: .damaged) }
                == .damaged)
        // The writer looks after the file when it is idle.
        cache.engine.committer.addDamage(in: generation)
        try cache.set(Person("p:new", "New")).wait()
        cache.close()
        #expect(FileManager.default.fileExists(atPath: path))
        let again = try scratch.open()
        #expect(try again.generation.name == name)
        #expect(again.read(Person.self, "p:1") != nil && again.read(Person.self, "p:new") != nil)
        again.close()
    }

    @Test(
        "A stored budget that no configuration can have is damage",
        arguments: [0, 1, 4_096, (1 << 20) - 1, (64 << 30) + 1, .max])
    func budget(bytes: Int) throws {
        let scratch = try Injured.makeCache()
        var cache = try scratch.open()
        try cache.generation.store(ByteCount(bytes))
        cache.close()
        cache = try scratch.open()
        #expect(try cache.statistics().nodes == 0)
        #expect(try cache.generation.budget == Configuration.forTests.budget)
        try expectClean(cache)
        cache.close()
    }

    @Test("A generation that can't be read is replaced by one with its budget")
    func keepsBudget() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: .mebibytes(2)))
        try cache.setBudget(.mebibytes(4)).wait()
        cache.close()
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: Injured.dataPath(scratch)))
        cache = try scratch.open(.forTests(budget: .mebibytes(2)))
        #expect(try cache.statistics().generationsReplaced.values.reduce(0, +) == 1)
        #expect(cache.budget == .mebibytes(4))
        // A damaged word tells nothing.
        cache.engine.generations.guardFileIfOpen?.ownersWord ^= 1 << 45
        cache.close()
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: Injured.dataPath(scratch)))
        cache = try scratch.open(.forTests(budget: .mebibytes(2)))
        #expect(cache.budget == .mebibytes(2))
        cache.close()
    }

    @Test("Opening keeps an intact file that was copied, or whose mark is missing")
    func intact() throws {
        let scratch = try Injured.makeCache()
        let image = try Data(contentsOf: URL(fileURLWithPath: Injured.dataPath(scratch)))
        try Injured.replace(scratch, by: image)
        let cache = try scratch.open()
        #expect(cache.read(Person.self, "p:1")?.name.hasPrefix("Person") == true)
        try expectClean(cache)
        cache.close()
    }
}

private enum Injury: String, CaseIterable, Sendable {
    case zeros, empty, cutAtPage, cutInPage, random, zeroedPage, randomPage, halfPage, swappedPages,
        wrongRoot,
        wrongCount
    case lastPage

    /// Only the check of a record finds damaged bytes in the middle of a value.
    var isStructural: Bool { self != .halfPage }
}

/// The bodies of the processes of `DamagedFileTests`.
private enum Injured {
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    static func makeCache() throws -> Scratch {
        let scratch = try Scratch()
        let cache = try scratch.open()
        for number in 0..<60 {
            let name = "Person" + String(repeating: "x", count: number * 67)
            cache.set(
                Message(
                    "m:\(number)", from: Person("p:\(number)", name),
                    to: Person("p:\(number / 2)", name)))
        }
        for number in 0..<20 { cache.delete("m:\(number * 2)") }
        try cache.setCollection((0..<200).map { Person("e:\($0)", "Element") }, forKey: "c").wait()
        cache.close()
        return scratch
    }

    static func dataPath(_ scratch: Scratch) throws -> String {
        let name = try String(contentsOfFile: scratch.directory + "/current", encoding: .utf8)
        return scratch.directory + "/" + name.trimmingCharacters(in: .whitespacesAndNewlines)
            + "/data.mdb"
    }

    /// Removes the mark, too: within one tick of its clock the file system may give the new file
    /// the times of the old one.
    static func replace(_ scratch: Scratch, by image: Data) throws {
        try image.write(to: URL(fileURLWithPath: dataPath(scratch)))
        let guardFile = try FileHandle(
            forUpdating: URL(fileURLWithPath: scratch.directory + "/guard"))
        try guardFile.seek(toOffset: 8)
        try guardFile.write(contentsOf: Data(count: 8))
        try guardFile.close()
    }

    static func run(_ injury: Injury, seed: UInt64) throws {
        let scratch = try makeCache()
        let image = try Data(contentsOf: URL(fileURLWithPath: dataPath(scratch)))
        var random = Seeded(state: seed)
        try replace(scratch, by: harm(image, injury, &random))
        let before = try dataPath(scratch)
        let cache = try scratch.open()
        let isNew = try dataPath(scratch) != before
        for number in 0..<60 {
            let message = cache.read(Message.self, "m:\(number)")
            if isNew && message != nil { throw Unexpected(description: "\(number) is there") }
            if let message, message.id != "m:\(number)" {
                throw Unexpected(description: "\(number) is \(message.id)")
            }
        }
        _ = cache.collection(of: Person.self, forKey: "c")
        for number in 0..<40 {
            let written = code(
                cache.set(Message("m:\(number)", from: Person("p:\(number)", "new"))))
            guard written == nil || written == .damaged && !injury.isStructural else {
                throw Unexpected(description: "writing fails: \(String(describing: written))")
            }
        }
        let report = try cache.verify()
        guard report.isClean || !injury.isStructural else {
            throw Unexpected(description: "\(report.problems)")
        }
        cache.close()
    }

    private static func harm(_ image: Data, _ injury: Injury, _ random: inout Seeded) -> Data {
        var image = image
        let pages = image.count / 4_096
        func page() -> Range<Int> {
            let start = Int.random(in: 0..<pages, using: &random) * 4_096
            return start..<start + 4_096
        }
        func scramble(_ range: Range<Int>) {
            for index in range { image[index] = UInt8.random(in: 0...255, using: &random) }
        }
        switch injury {
        case .zeros: return Data(count: image.count)
        case .empty: return Data()
        case .cutAtPage:
            return Data(image.prefix(Int.random(in: 1..<pages - 20, using: &random) * 4_096))
        case .cutInPage:
            return Data(image.prefix(Int.random(in: 1..<image.count - 80_000, using: &random)))
        case .random: scramble(0..<image.count)
        case .zeroedPage: image.replaceSubrange(page(), with: Data(count: 4_096))
        case .randomPage: scramble(page())
        case .halfPage: scramble(page().dropFirst(2_048).indices)
        case .swappedPages:
            let (a, b) = (page(), page())
            let (first, second) = (Data(image[a]), Data(image[b]))
            image.replaceSubrange(a, with: second)
            image.replaceSubrange(b, with: first)
        case .wrongRoot, .wrongCount:
            for meta in [0, 4_096] { image[meta + (injury == .wrongRoot ? 128 : 120)] &+= 1 }
        case .lastPage: for meta in [0, 4_096] { image[meta + 136] &+= 1 }
        }
        return image
    }

    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
