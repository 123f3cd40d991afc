#if Macros
import Espalier
import Foundation
import Testing

@Normalized struct Member {
    let id: Int
    let name: String
    var place: Place?
    let part: Part
}

@Normalized final class Place {
    let id: UUID
    let members: [Member]
}

@Normalized indirect enum Part {
    case leader(Member?)
    case named(String)
    case both(Part, any Model)
}

@Normalized struct Group<Item: NormalizedModel & Model> {
    let id: String
    let items: [Item]
    @Stored(default: 1) let weight: Int
    @NotStored var open = false
}

@Suite("Models work in a module of Swift 5")
struct Swift5ModelsTests {
    @Test("Models of a Swift 5 module are values that any thread can use")
    func nonisolated() async {
        let member = Member(id: 1, name: "Ann", part: .named("x"))
        let group = Group(id: "g", items: [member], weight: 3)
        let copy = await Task.detached {
            Set([group]).first?.copy { $0.items.append(member.copy { $0.part = .leader(nil) }) }
        }.value
        #expect(copy?.items.count == 2)
    }

    @Test("The cache stores the models of a Swift 5 module")
    func stored() async throws {
        let directory = NSTemporaryDirectory() + "/espalier-swift5-" + UUID().uuidString
        let cache = try NormalizedCache(
            directory: directory, configuration: Configuration(durability: .noSync))
        defer {
            cache.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
        let member = Member(
            id: 1, name: "Ann", place: Place(id: UUID(), members: []),
            part: .both(.named("x"), Ring(id: 1)))
        try await cache.set(member).committed
        #expect(await cache.read(Member.self, "Member:1") == member)
    }
}

@Normalized struct Ring { let id: Int }
#endif
