import EspalierRecords
import Foundation
import Testing

@testable import EspalierLMDB
@testable import EspalierStore

/// Opens damaged images of a cache in processes of their own, and counts those that die.
///
/// `ESPALIER_IMAGES` is the number of images of each test.
@Suite("Damaged images")
struct DamagedImageTests {
    private static let count =
        ProcessInfo.processInfo.environment["ESPALIER_IMAGES"].flatMap { Int($0) } ?? 100

    @Test("Damage that the mark notices never ends the process")
    func noticed() async throws {
        let deaths = try await Deaths(of: Self.count / 2, isLarge: false, isNoticed: true)
        #expect(deaths.once == 0 && deaths.twice == 0 && deaths.failures == [], "\(deaths)")
    }

    @Test("Damage that nothing notices ends 2 % of the processes once at most, and none twice")
    func unnoticed() async throws {
        let deaths = try await Deaths(of: Self.count / 2, isLarge: false, isNoticed: false)
        #expect(deaths.once * 50 <= deaths.images && deaths.twice == 0, "\(deaths)")
        #expect(deaths.failures == [])
    }

    @Test("A file too large to be checked at each opening ends no process twice")
    func large() async throws {
        let deaths = try await Deaths(of: Self.count / 4, isLarge: true, isNoticed: false)
        #expect(deaths.twice == 0 && deaths.failures == [], "\(deaths)")
    }

    /// Few images are such that two processes die of them: the first is behind number 200.
    @Test("Without the record of uses, damage that nothing notices would end processes again")
    func canary() async throws {
        let deaths = try await Deaths(
            of: 400, from: 200, isLarge: true, isNoticed: false, forgetsUses: true, mayStop: true)
        #expect(deaths.twice > 0, "\(deaths)")
    }
}

/// How many processes died of a number of images.
private struct Deaths: CustomStringConvertible {
    let images: Int
    private(set) var once = 0
    private(set) var twice = 0
    /// The images with wrong values, or that could not be repaired.
    private(set) var failures: [String] = []

    var description: String {
        "\(images) images: \(once) died once, \(twice) twice, \(failures.count) failed: \(failures)"
    }

    /// - Parameters:
    ///   - first: The seed of the first image.
    ///   - mayStop: Whether to stop at the first image of which two processes died.
    init(
        of images: Int, from first: Int = 0, isLarge: Bool, isNoticed: Bool,
        forgetsUses: Bool = false, mayStop: Bool = false
    ) async throws {
        self.images = images
        let scratch = try Scratch()
        try DamagedImage.makeTemplate(in: scratch, isLarge: isLarge)
        let log = scratch.root + "/log"
        var (image, isSecond, hasDied) = (first, false, false)
        while image < images, !mayStop || twice == 0 {
            try Data().write(to: URL(fileURLWithPath: log))
            // The process may die: the log then says where.
            await withKnownIssue(isIntermittent: true) {
                await #expect(processExitsWith: .success) {
                    [
                        root = scratch.root as String, image = image as Int, images = images as Int,
                        isSecond = isSecond as Bool, isNoticed = isNoticed as Bool,
                        forgetsUses = forgetsUses as Bool
                    ] in
                    try DamagedImage.useAll(
                        root, image..<images, fromSecond: isSecond, isNoticed, forgetsUses)
                }
            }
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            failures += lines.filter { $0.hasPrefix("failure") }.map(String.init)
            let last = lines.last { !$0.hasPrefix("failure") }?.split(separator: " ") ?? []
            guard last.first == "use", let place = last.dropFirst().first.flatMap({ Int($0) })
            else { break }
            let wasSecond = last.last == "second"
            if wasSecond, hasDied, place == image {
                twice += 1
            } else {
                once += 1
            }
            (image, isSecond, hasDied) = wasSecond ? (place + 1, false, false) : (place, true, true)
        }
    }
}

/// What the processes do. Each image is used twice.
private enum DamagedImage {
    /// The size above which a file counts as large here.
    private static let smallFile = 2 << 20

    static func makeTemplate(in scratch: Scratch, isLarge: Bool) throws {
        let cache = try scratch.open(.uncompressed)
        for number in 0..<(isLarge ? 2_000 : 100) {
            cache.set(Message("m:\(number)", from: person(number), to: person(number / 2)))
        }
        for number in 0..<30 { cache.delete("m:\(number * 3)") }
        try cache.setCollection((0..<200).map { Person("e:\($0)", "Element") }, forKey: "c").wait()
        cache.close()
        try FileManager.default.moveItem(
            atPath: scratch.directory, toPath: scratch.root + "/template")
        let size = try dataPath(scratch.root + "/template").size
        guard (size > smallFile) == isLarge else { throw Missing() }
    }

    private static func person(_ number: Int) -> Person {
        Person("p:\(number)", "Person \(number)" + String(repeating: "x", count: number % 97 * 31))
    }

    private static func dataPath(_ directory: String) throws -> (path: String, size: Int) {
        let name = try String(contentsOfFile: directory + "/current", encoding: .utf8)
        let path =
            directory + "/" + name.trimmingCharacters(in: .whitespacesAndNewlines) + "/data.mdb"
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return (path, size?.intValue ?? 0)
    }

    /// Uses images, and logs which. If a use ends the process, the last line of the log names it.
    static func useAll(
        _ root: String, _ images: Range<Int>, fromSecond isSecond: Bool, _ isNoticed: Bool,
        _ forgetsUses: Bool
    ) throws {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: root + "/log"))
        func write(_ line: String) throws { try log.write(contentsOf: Data((line + "\n").utf8)) }
        let directory = root + "/cache"
        for image in images {
            if image > images.lowerBound || !isSecond {
                try? FileManager.default.removeItem(atPath: directory)
                try FileManager.default.copyItem(atPath: root + "/template", toPath: directory)
                try damage(directory, seed: image, isNoticed, onlyStructure: forgetsUses)
                try write("use \(image) first")
                // A process that hangs counts as one that dies.
                alarm(60)
                // What a commit rewrites is damage no more. To die twice, a process has to do the
                // same twice.
                if let failure = use(directory, isLast: forgetsUses) {
                    try write("failure \(image): \(failure)")
                }
            }
            if forgetsUses { try forget(directory) }
            try write("use \(image) second")
            alarm(60)
            if let failure = use(directory, isLast: true) {
                try write("failure \(image): \(failure)")
            }
        }
        try write("done")
    }

    /// Takes the uses out of the guard file, so that a crash leaves no trace.
    private static func forget(_ directory: String) throws {
        let guardFile = try GuardFile(path: directory + "/guard", create: false)
        guardFile[.users] = 0
        guardFile[.assertions] = 0
    }

    /// Reads, writes and verifies everything. Returns what is wrong.
    private static func use(_ directory: String, isLast: Bool = false) -> String? {
        do {
            return try FileUse.$smallFile.withValue(smallFile) {
                try findFailure(in: directory, isLast: isLast)
            }
        } catch {
            return "\(error)"
        }
    }

    private static func findFailure(in directory: String, isLast: Bool) throws -> String? {
        let cache = try NormalizedCache(directory: directory, configuration: .uncompressed)
        defer { cache.close() }
        for number in 0..<2_000 {
            guard let message = cache.read(Message.self, "m:\(number)") else { continue }
            let isRight =
                message.sender == person(number)
                && [person(number / 2), nil].contains(
                    message.reader)
            if !isRight { return "m:\(number) has a wrong value" }
        }
        if let elements = cache.collection(of: Person.self, forKey: "c"),
            elements.contains(where: { $0.name != "Element" })
        {
            return "the collection has wrong elements"
        }
        for number in 0..<60 {
            cache.set(Message("m:\(number)", from: person(number), to: person(number / 2)))
        }
        try? cache.engine.queue.waitForEarlierWrites()
        guard isLast else { return nil }
        // A read of a bad page fails, and the writer replaces the file.
        let found = try? cache.verify()
        if found?.isClean == true { return nil }
        try? cache.repair().wait()
        let report = try cache.verify()
        // A record whose version is damaged looks like one of a newer version, which must stay.
        let isNewer = report.problems.contains { $0.detail.contains("unknownVersion") }
        return report.isClean || isNewer
            ? nil : "\(report.problems.prefix(3)), before: \(found?.problems.prefix(5) ?? [])"
    }

    /// The flag of overflow pages in the header of a page, `P_OVERFLOW`.
    private static let overflowFlag: UInt8 = 4

    private static func damage(
        _ directory: String, seed: Int, _ isNoticed: Bool, onlyStructure: Bool
    ) throws {
        let (path, _) = try dataPath(directory)
        var image = try Data(contentsOf: URL(fileURLWithPath: path))
        var random = Choices(seed: UInt64(seed))
        let pages = image.count / 4_096
        // Most pages hold a container or a group of the index, whose damage LMDB does not notice.
        // Half of the images are damaged on the other pages, which are those that LMDB walks.
        let isStructural = onlyStructure || seed / 8 % 2 == 0
        func page() -> Range<Int> {
            while true {
                let start = Int.random(in: 0..<pages, using: &random) * 4_096
                if isStructural, image[start + 10] & overflowFlag != 0 { continue }
                return start..<start + 4_096
            }
        }
        func flip(_ range: Range<Int>) {
            image[Int.random(in: range, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
        func scramble(_ range: Range<Int>) {
            for index in range { image[index] = UInt8.random(in: 0...255, using: &random) }
        }
        switch seed % 8 {
        case 0: flip(0..<image.count)
        case 1: for _ in 0..<64 { flip(0..<image.count) }
        case 2: flip(page().prefix(16).indices)
        case 3: image.replaceSubrange(page(), with: Data(count: 4_096))
        case 4: scramble(page())
        case 5: scramble(page().prefix(2_048).indices)
        case 6: for _ in 0..<4 { image.replaceSubrange(page(), with: Data(count: 4_096)) }
        default:
            let (a, b) = (page(), page())
            let (first, second) = (Data(image[a]), Data(image[b]))
            image.replaceSubrange(a, with: second)
            image.replaceSubrange(b, with: first)
        }
        try image.write(to: URL(fileURLWithPath: path))
        let guardFile = try GuardFile(path: directory + "/guard", create: false)
        guard let handle = FileHandle(forReadingAtPath: path),
            let status = FileStatus(descriptor: handle.fileDescriptor)
        else { throw Missing() }
        guardFile.setMark(isNoticed ? IntactMark.none : IntactMark(status).durable)
    }

    private struct Choices: RandomNumberGenerator {
        private var state: UInt64
        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
