import Espalier
import Foundation
import Testing

/// Three types see parts of one record, and write partial models of it: through the cache, through
/// providers, and through a second manager. All screens and all reads show what a dictionary has.
@MainActor @Suite("Screens of three projections agree with a dictionary")
final class ProjectionWalkTests {
    private let directory = NSTemporaryDirectory() + "espalier-walk-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test("After random partial writes of all kinds, every screen shows what the rules give")
    func walk() async throws {
        for _ in 0..<20 {
            let seed = UInt64.random(in: .min ... .max)
            let walk = try Walk(seed, in: directory + "/\(seed)")
            for round in 10..<20 {
                for step in 10..<60 { try await walk.step("\(round).\(step)") }
                let differences = await walk.differences()
                #expect(differences.isEmpty, "seed \(seed), round \(round)")
                if !differences.isEmpty { return }
            }
            await walk.close()
            try await expectInOtherProcess(walk.oracle, directory + "/\(seed)")
        }
    }

    /// Expects another process to read what the oracle has.
    private func expectInOtherProcess(
        _ oracle: [[String: String]], _ directory: String
    ) async throws {
        let expected = String(decoding: try JSONEncoder().encode(oracle), as: UTF8.self)
        await #expect(processExitsWith: .success) {
            [directory = directory as String, expected = expected as String] in
            let cache = try NormalizedCache(directory: directory)
            let oracle = try JSONDecoder().decode(
                [[String: String]].self, from: Data(expected.utf8))
            for (id, fields) in oracle.enumerated() {
                let front = await cache.read(Front.self, "Item:\(id)")
                let side = await cache.read(Side.self, "Item:\(id)")
                guard front?.a == fields["a"], front?.b == fields["b"], side?.c == fields["c"]
                else { exit(2) }
            }
            cache.close()
        }
    }

    @Test("The comparison finds a screen that does not follow")
    func canary() async throws {
        let walk = try Walk(1, in: directory + "/canary")
        walk.oracle[0]["a"] = "never written"
        #expect(await !walk.differences(patience: .milliseconds(50)).isEmpty)
        await walk.close()
    }
}

/// Fields `a` and `b` of an item. A merge keeps the first `a`.
private struct Front: ItemPart {
    static let mergeRules: MergeRules = ["a": .keepFirst]
    static func merged(_ name: String, _ old: String, _ new: String) -> String {
        name == "a" ? old : new
    }
    var id: Int
    var a: String?
    var b: String?
    static var names: [String] { ["a", "b"] }
    init(id: Int, _ fields: [String: String]) { (self.id, a, b) = (id, fields["a"], fields["b"]) }
    var fields: [String: String?] { ["a": a, "b": b] }
}

/// Fields `b` and `c` of an item. A merge keeps the smaller `b`.
private struct Side: ItemPart {
    static let mergeRules: MergeRules = [
        "b": .combined { (old: String, new: String) in min(old, new) }
    ]
    static func merged(_ name: String, _ old: String, _ new: String) -> String {
        name == "b" ? min(old, new) : new
    }
    var id: Int
    var b: String?
    var c: String?
    static var names: [String] { ["b", "c"] }
    init(id: Int, _ fields: [String: String]) { (self.id, b, c) = (id, fields["b"], fields["c"]) }
    var fields: [String: String?] { ["b": b, "c": c] }
}

/// Fields `a` and `c` of an item.
private struct Back: ItemPart {
    var id: Int
    var a: String?
    var c: String?
    static var names: [String] { ["a", "c"] }
    init(id: Int, _ fields: [String: String]) { (self.id, a, c) = (id, fields["a"], fields["c"]) }
    var fields: [String: String?] { ["a": a, "c": c] }
}

private protocol ItemPart: Codable, NormalizedModel, Model, Equatable {
    static var names: [String] { get }
    /// What the rules of the type give for a field that both sides have.
    static func merged(_ name: String, _ old: String, _ new: String) -> String
    var id: Int { get }
    var fields: [String: String?] { get }
    init(id: Int, _ fields: [String: String])
}

extension ItemPart {
    static func merged(_ name: String, _ old: String, _ new: String) -> String { new }
    var modelIdentifier: String? { "Item:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// A cache with two managers, each with a provider of every item and type, and lists.
@MainActor
private final class Walk {
    private static let itemCount = 4
    private let cache: NormalizedCache
    private let managers: [DataModelManager]
    private var random: SeededGenerator
    private var screens: [any Screen] = []
    private var lists: [CollectionDataProvider<Front>] = []
    /// What the rules give: the fields of each item.
    var oracle: [[String: String]]

    init(_ seed: UInt64, in directory: String) throws {
        let cache = try NormalizedCache(directory: directory)
        self.cache = cache
        random = SeededGenerator(seed)
        managers = [DataModelManager(cache: cache), DataModelManager(cache: cache)]
        oracle = Array(repeating: [:], count: Self.itemCount)
        for manager in managers {
            for id in 0..<Self.itemCount {
                screens.append(ItemScreen<Front>(id, manager))
                screens.append(ItemScreen<Side>(id, manager))
                screens.append(ItemScreen<Back>(id, manager))
            }
            let list = CollectionDataProvider<Front>(dataModelManager: manager)
            lists.append(list)
        }
    }

    func close() async {
        for manager in managers { await manager.flush() }
        cache.close()
    }

    // MARK: Steps

    /// Makes one random write. Writers take turns: whoever writes waits until it is stored.
    func step(_ text: String) async throws {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try await write(Front.self, text)
        case 1: try await write(Side.self, text)
        default: try await write(Back.self, text)
        }
    }

    private func write<Part: ItemPart>(_ type: Part.Type, _ text: String) async throws {
        let id = Int.random(in: 0..<Self.itemCount, using: &random)
        let names = Part.names.filter { _ in Bool.random(using: &random) }
        let part = Part(id: id, Dictionary(uniqueKeysWithValues: names.map { ($0, text) }))
        let policy = WritePolicy.allCases.randomElement(using: &random) ?? .merge
        let manager = managers[Int.random(in: 0..<2, using: &random)]
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where policy == .merge && Bool.random(using: &random):
            try await cache.ingest(JSONEncoder().encode(part), as: Part.self)
        case 0: try await cache.set(part, policy: policy).committed
        case 1: try await provider(of: part, manager).save(part, policy: policy)
        case 2: try await provider(of: part, manager).save(part, policy: policy)
        case 3:
            try await manager.saving {
                if policy == .merge {
                    manager.mergeModels([part])
                } else {
                    manager.updateModels([part])
                }
            }
        case 4: try await cache.setCollection([part], forKey: "parts", policy: policy).committed
        default: try await list(part, policy, manager)
        }
        for name in Part.names {
            if names.contains(name) {
                let old = policy == .merge ? oracle[id][name] : nil
                oracle[id][name] = old.map { Part.merged(name, $0, text) } ?? text
            } else if policy == .replace {
                oracle[id][name] = nil
            }
        }
    }

    private func provider<Part: ItemPart>(of part: Part, _ manager: DataModelManager)
        -> DataProvider<Part>
    {
        let screens = screens.lazy.compactMap { $0 as? ItemScreen<Part> }
        guard let screen = screens.first(where: { $0.id == part.id && $0.manager === manager })
        else { preconditionFailure("There is a screen of every item.") }
        return screen.provider
    }

    /// Writes an element of a list of its own type.
    private func list<Part: ItemPart>(
        _ part: Part, _ policy: WritePolicy, _ manager: DataModelManager
    ) async throws {
        let list: CollectionDataProvider<Part>
        if Part.self == Front.self,
            let known = lists.first(where: {
                $0.dataModelManager === manager
            }) as? CollectionDataProvider<Part>
        {
            list = known
        } else {
            list = CollectionDataProvider<Part>(dataModelManager: manager)
        }
        let index = list.firstIndex { $0.id == part.id }
        let key = "\(Part.self)"
        try await manager.saving {
            if let index, Bool.random(using: &random) {
                list.update(part, at: index, policy: policy)
            } else if list.isEmpty {
                list.setData([part], cacheKey: key, policy: policy)
            } else if index == nil {
                list.append([part], policy: policy)
            } else {
                list.replaceData(with: [part], policy: policy)
            }
        }
    }

    // MARK: Comparing

    /// Returns what differs from the oracle: of fresh reads, and of screens when they have come to
    /// rest.
    func differences(patience: Duration = .seconds(10)) async -> [String] {
        let start = ContinuousClock.now
        while true {
            for manager in managers { await manager.flush() }
            let found = await stored() + shown()
            if found.isEmpty || ContinuousClock.now - start > patience { return found }
        }
    }

    private func stored() async -> [String] {
        var found: [String] = []
        for id in 0..<Self.itemCount {
            let parts: [any ItemPart] = [
                await cache.read(Front.self, "Item:\(id)") ?? Front(id: id, [:]),
                await cache.read(Side.self, "Item:\(id)") ?? Side(id: id, [:]),
                await cache.read(Back.self, "Item:\(id)") ?? Back(id: id, [:]),
            ]
            found += parts.flatMap { difference($0).map { "stored: \($0)" } }
        }
        return found
    }

    private func shown() -> [String] {
        screens.compactMap(\.part).flatMap { difference($0).map { "shown: \($0)" } }
            + lists.flatMap { $0.data.flatMap { difference($0).map { "in a list: \($0)" } } }
    }

    private func difference(_ part: some ItemPart) -> [String] {
        part.fields.sorted { $0.key < $1.key }.compactMap { name, value in
            let right = oracle[part.id][name]
            return value == right
                ? nil : "\(type(of: part)) \(part.id).\(name): \(value ?? "-") not \(right ?? "-")"
        }
    }
}

/// A provider of one item as one type.
@MainActor
private protocol Screen {
    var part: (any ItemPart)? { get }
}

@MainActor
private struct ItemScreen<Part: ItemPart>: Screen {
    let id: Int
    let manager: DataModelManager
    let provider: DataProvider<Part>

    init(_ id: Int, _ manager: DataModelManager) {
        self.id = id
        self.manager = manager
        provider = DataProvider(dataModelManager: manager)
        provider.modelIdentifier = "Item:\(id)"
    }

    var part: (any ItemPart)? { provider.data }
}

/// SplitMix64, so that a seed repeats a walk.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
