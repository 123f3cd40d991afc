import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("A survey finds where reads stop")
struct TreeSurveyTests {
    private enum Breaking: CaseIterable {
        case damage, loss, removal
    }

    private func apply(_ breaking: Breaking, to handle: Handle, in cache: NormalizedCache) throws {
        if breaking == .damage { return try cache.damage(handle) }
        try cache.removeBytes(of: handle)
        guard breaking == .loss else { return }
        try cache.tamper(withState: StateEntry(flags: .lost), of: handle)
    }

    @Test(
        "A survey's first final place is the place where the read misses",
        arguments: ["p:1", "p:3", "m:2", "m:1", "m:3"])
    func stop(broken: String) throws {
        for breaking in Breaking.allCases {
            try withCache(isDamaged: true) { cache in
                try cache.set(
                    Box(
                        "b:1",
                        [
                            "x": [Message("m:1", from: Person("p:1", ""))],
                            "y": [Message("m:2", from: Person("p:2", ""))],
                        ])
                ).wait()
                try cache.setCollection(
                    [
                        Message("m:2", from: Person("p:2", "")),
                        Message("m:3", from: Person("p:3", "")),
                    ], forKey: "c"
                ).wait()
                let handle = try #require(try cache.handle(broken))
                try apply(breaking, to: handle, in: cache)
                let box = cache.readOutcome(Box<[String: [Message]]>.self, "b:1")
                let collection = cache.collectionOutcome(of: Message.self, forKey: "c")
                try expect(box.reason, .node, "b:1", handle, cache)
                try expect(collection.reason, .collection, "c", handle, cache)
            }
        }
    }

    private func expect(
        _ reason: MissReason?, _ nameSpace: NameSpace, _ identifier: String, _ broken: Handle,
        _ cache: NormalizedCache
    ) throws {
        try cache.inspect { inspection in
            let entry = try #require(try inspection.entry(of: identifier, in: nameSpace))
            let survey = try inspection.survey(of: entry, levels: 500)
            guard let reason else { return #expect(survey.places.isEmpty) }
            let stop = try #require(survey.stop)
            #expect(stop.handle == broken && Self.names(reason, stop.path), "\(reason), \(stop)")
        }
    }

    /// Returns whether the reason has the path, or the entry if that is no node.
    private static func names(_ reason: MissReason, _ path: String) -> Bool {
        let text = reason.description
        return text.contains(" \(path)") || path.hasPrefix("c[") && text.contains(" c")
    }

    @Test("A survey visits each record once, and a chain no deeper than its limit")
    func limits() throws {
        try withCache { cache in
            let shared = Person("p:1", "")
            try cache.setCollection(
                (0..<500).map { Message("m:\($0)", from: shared, to: shared) }, forKey: "c"
            ).wait()
            try cache.inspect { inspection in
                let entry = try #require(try inspection.entry(of: "c", in: .collection))
                let survey = try inspection.survey(of: entry, levels: 500)
                // The collection, its segment, the messages and the person.
                #expect(survey.recordCount == 503 && survey.places.isEmpty && survey.depth == 4)
                let shallow = try inspection.survey(of: entry, levels: 3)
                #expect(
                    shallow.placeCount == 1_000 && shallow.places.allSatisfy { $0.kind == .tooDeep }
                )
                #expect(shallow.recordCount == 502 && shallow.stop == nil)
            }
        }
    }

    @Test("A record's anatomy covers all bytes, and names the damage of whichever byte")
    func anatomy() throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Message("m:1", from: Person("p:1", "Anna"), to: Person("p:2", "Ben")))
                .wait()
            let handle = try #require(try cache.handle("m:1"))
            let intact = try #require(try cache.inspect { try $0.anatomy(of: handle) })
            #expect(intact.problem == nil && intact.parts.last?.name == .payload)
            #expect(intact.parts.flatMap { intact.bytes[$0.range] } == intact.bytes)
            #expect(intact.rawByteCount == intact.bytes.count && intact.children?.count == 2)
            #expect(intact.place?.frameCount == 1 && intact.blockCount == 3)
            let key = intact.place?.key.rawValue ?? 0
            let container = try #require(try cache.readStorage { try $0.value($1.nodes, key) })
            for index in container.indices {
                for bit in 0..<8 {
                    var damaged = container
                    damaged[index] ^= 1 << UInt8(bit)
                    try cache.tamper { try $0.put($1.nodes, key, damaged) }
                    let anatomy = try cache.inspect { try $0.anatomy(of: handle) }
                    #expect(anatomy?.problem != nil, "byte \(index), bit \(bit)")
                }
            }
            for count in 1..<container.count {
                try cache.tamper { try $0.put($1.nodes, key, Array(container.prefix(count))) }
                let anatomy = try cache.inspect { try $0.anatomy(of: handle) }
                #expect(anatomy?.problem != nil, "\(count) bytes")
            }
        }
    }
}
