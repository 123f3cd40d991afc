import EspalierInspection
import EspalierLMDB
import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("An inspection shows records as they are stored")
struct InspectionTests {
    @Test("An identifier has a handle in each name space where it is stored, and none elsewhere")
    func handles() throws {
        try withCache { cache in
            let long = String(repeating: "x", count: 2_000)
            for identifier in ["x", long] {
                cache.set(Person(identifier, "node"))
                cache.setModel(Remark("inline"), forKey: identifier)
                cache.setCollection([Remark("inline")], forKey: identifier)
            }
            try cache.inspect { inspection throws in
                var handles: Set<Handle> = []
                for identifier in ["x", long] {
                    for nameSpace in [NameSpace.node, .key, .collection] {
                        let entry = try #require(
                            try inspection.entry(of: identifier, in: nameSpace))
                        #expect(
                            try inspection.handle(of: identifier, in: nameSpace) == entry.handle)
                        guard case .record(let record) = try inspection.record(of: entry) else {
                            throw Missing()
                        }
                        #expect(record.identifier == identifier && record.nameSpace == nameSpace)
                        handles.insert(entry.handle)
                    }
                    #expect(try inspection.handle(of: identifier, in: .segment) == nil)
                }
                #expect(handles.count == 6)
                for identifier in ["", "y", long + "y"] {
                    #expect(try inspection.entry(of: identifier, in: .node) == nil)
                }
            }
        }
    }

    @Test("An inspection tells deleted, lost, damaged and missing records apart")
    func kinds() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Message("m:1", from: Person("p:1", ""), to: Person("p:2", "")))
            cache.set(Message("m:2", from: Person("p:3", ""), to: Person("p:4", "")))
            try cache.delete("p:2").wait()
            let children = try cache.inspect { inspection -> [Handle] in
                try ["m:1", "m:2"].flatMap { identifier -> [Handle] in
                    let handle = try #require(try inspection.handle(of: identifier, in: .node))
                    guard case .record(let record) = try inspection.record(handle) else {
                        throw Missing()
                    }
                    return record.children
                }
            }
            try cache.damage("p:3")
            try cache.removeBytes(of: children[3])
            try cache.tamper(withState: StateEntry(flags: .lost), of: children[3])
            try cache.inspect { inspection throws in
                let kinds = try (children + [Handle(0), Handle(999)]).map {
                    try kind(inspection.record($0))
                }
                #expect(kinds == ["record", "deleted", "damaged", "lost", "nothing", "nothing"])
                #expect(try inspection.state(of: children[1])?.flags == .tombstone)
                #expect(try inspection.handle(of: "p:2", in: .node) == nil)
            }
        }
    }

    @Test("An inspection shows a damaged state as none")
    func state() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Message("m:1", from: Person("p:1", ""), to: Person("p:1", "")))
            try cache.set(Message("m:2", from: Person("p:1", ""))).wait()
            let (parent, child) = try (cache.handle("m:1"), cache.handle("p:1"))
            let (root, shared) = (try #require(parent), try #require(child))
            try cache.inspect { inspection throws in
                let state = try #require(try inspection.state(of: root))
                #expect(state.referenceCount == 0 && state.stamp == Stamp(1))
                #expect(state.writtenAt != nil)
                #expect(try inspection.state(of: shared)?.referenceCount == 2)
            }
            try cache.tamper { try $0.put($1.state, shared.rawValue, [1, 2, 3, 4, 5, 6]) }
            #expect(try cache.inspect { try $0.state(of: shared) } == nil)
        }
    }

    @Test("The size of a record is its share of a frame, or its chunks with their overhead")
    func bytes() throws {
        try withCache(.uncompressed, isDamaged: true) { cache in
            cache.set(Person("p:1", "short"))
            cache.set(Person("p:2", "twice as long"))
            try cache.set(Person("p:3", String(repeating: "t", count: 20_000))).wait()
            let handles = try (1...3).map { try #require(try cache.handle("p:\($0)")) }
            try cache.inspect { inspection throws in
                let sizes = try handles.compactMap { try inspection.storedByteCount(of: $0) }
                let total = Int(try cache.statistics().recordBytes.bytes)
                // The directory of the container belongs to no record: version, count of frames,
                // an entry and a check.
                #expect(total - sizes.reduce(0, +) == 1 + 1 + 3 + 4)
                #expect(sizes[0] < sizes[1] && sizes[2] > 20_000)
                #expect(try inspection.storedByteCount(of: Handle(999)) == nil)
            }
            // Of a damaged frame, each record has the same share.
            try cache.damage(handles[0])
            let sizes = try cache.inspect { inspection in
                try handles.map { try inspection.storedByteCount(of: $0) ?? 0 }
            }
            #expect(sizes[0] > 0 && sizes[0] < 60 && sizes[2] > 20_000)
            // Damage never makes the size larger than the stored bytes: a missing chunk, an
            // impossible count, no bytes at all.
            try cache.tamper { try $0.delete($1.long, ChunkKey(handles[2].rawValue, 2)) }
            #expect(try cache.inspect { try $0.storedByteCount(of: handles[2]) ?? 0 } < 20_000)
            for bytes in [[], [2], [2, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [2, 0x80, 0xFF]]
                as [[UInt8]]
            {
                try cache.tamper {
                    try $0.put($1.long, ChunkKey(handles[2].rawValue, 0), bytes)
                }
                #expect(try cache.inspect { kind(try $0.record(handles[2])) } == "damaged")
            }
        }
    }

    @Test(
        """
        A record's fields come in the order of its shape, absent ones included, and each can be \
        decoded alone
        """)
    func fields() throws {
        try withCache { cache in
            cache.set(Person("p:1", "Ada"))
            cache.set(Card("p:1", name: "Ada", badge: 7))
            try cache.set(Message("m:1", from: Person("p:1", "Ada"))).wait()
            try cache.inspect { inspection throws in
                let entry = try #require(try inspection.entry(of: "p:1", in: .node))
                guard case .record(let record) = try inspection.record(of: entry) else {
                    throw Missing()
                }
                let fields = try record.fields()
                #expect(fields.map(\.field.name) == record.shape.fields.map(\.name))
                #expect(Set(fields.map(\.field.name)) == ["id", "name", "badge"])
                for (slot, field) in fields.enumerated() {
                    #expect(try record.value(inSlot: slot) == field.value)
                }
                #expect(record.elementCount == nil)
                let message = try #require(try inspection.entry(of: "m:1", in: .node))
                guard case .record(let parent) = try inspection.record(of: message) else {
                    throw Missing()
                }
                #expect(try parent.fields().map(\.value).contains(.child(0)))
                #expect(parent.children == [entry.handle])
            }
        }
    }

    @Test("The value of a key is a reference or an inline value")
    func keys() throws {
        try withCache { cache in
            cache.setModel(Person("p:1", "Ada"), forKey: "node")
            try cache.setModel(Remark("text", on: Person("p:1", "Ada")), forKey: "inline").wait()
            try cache.inspect { inspection throws in
                for (key, isReference) in [("node", true), ("inline", false)] {
                    let entry = try #require(try inspection.entry(of: key, in: .key))
                    guard case .record(let record) = try inspection.record(of: entry) else {
                        throw Missing()
                    }
                    #expect(record.children.count == 1)
                    if isReference { #expect(try record.keyValue() == .child(0)) }
                    if case .map = try record.keyValue() { #expect(!isReference) }
                }
            }
        }
    }

    @Test(
        "The elements of a collection continue across its segments, each with its own children",
        arguments: [0, 1, 512, 513, 1_500])
    func elements(count: Int) throws {
        try withCache { cache in
            let models = (0..<count).map { number in
                number % 3 == 0
                    ? Remark("\(number)", on: Person("p:\(number % 7)", ""))
                    : Remark("\(number)", id: "r:\(number)")
            }
            try cache.setCollection(models, forKey: "c").wait()
            try cache.inspect { inspection throws in
                let entry = try #require(try inspection.entry(of: "c", in: .collection))
                guard case .record(let collection) = try inspection.record(of: entry) else {
                    throw Missing()
                }
                #expect(collection.elementCount == count)
                let segments = try collection.segments()
                #expect(segments.map(\.handle) == collection.children)
                #expect(segments.last?.elements.upperBound ?? 0 == count)
                #expect(
                    zip(segments, segments.dropFirst()).allSatisfy {
                        $0.elements.upperBound == $1.elements.lowerBound
                    })
                let elements = try inspection.elements(of: collection)
                #expect(elements.count == count)
                for (number, element) in elements.enumerated() {
                    let child = try #require(element.children.first)
                    guard case .record(let record) = try inspection.record(child) else {
                        throw Missing()
                    }
                    #expect(element.children.count == 1)
                    #expect(
                        record.identifier == (number % 3 == 0 ? "p:\(number % 7)" : "r:\(number)"))
                    #expect((element.value == .child(0)) == (number % 3 != 0))
                }
            }
        }
    }

    @Test("Reading the elements of a collection that misses a segment throws")
    func damagedSegment() throws {
        try withCache(isDamaged: true) { cache in
            try cache.setCollection((0..<1_000).map { _ in Person("p:1", "") }, forKey: "c").wait()
            let handle = try #require(try cache.handle("c", in: .collection))
            try cache.damage(try #require(try cache.record(handle)?.children.last))
            #expect(throws: CacheError.self) {
                try cache.inspect { inspection throws in
                    guard case .record(let collection) = try inspection.record(handle) else {
                        throw Missing()
                    }
                    #expect(collection.elementCount == 1_000)
                    _ = try inspection.elements(of: collection)
                }
            }
        }
    }

    @Test("An inspection decodes values nested as deep as trees may be")
    func deep() throws {
        var configuration = Configuration.forTests
        configuration.limits.maximumDepth = 600
        try withCache(configuration) { cache in
            try cache.setModel(Nest(depth: 550), forKey: "k").wait()
            try cache.inspect { inspection throws in
                let entry = try #require(try inspection.entry(of: "k", in: .key))
                guard case .record(let record) = try inspection.record(of: entry) else {
                    throw Missing()
                }
                var value = try record.keyValue()
                var depth = 0
                while case .map(let entries) = value, let inner = entries.first?.value {
                    value = inner
                    depth += 1
                }
                #expect(depth >= 550)
            }
        }
    }

    @Test("An inspection changes nothing and counts as no access")
    func harmless() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: Person("p:1", ""))).wait()
            try cache.set(Message("m:2", from: Person("p:2", ""))).wait()
            let before = try cache.statistics()
            let state = try cache.state("m:1")
            try cache.inspect { inspection throws in
                try inspection.forEachRecord { _, _ in true }
                _ = try inspection.record(try #require(try inspection.handle(of: "m:1", in: .node)))
            }
            try cache.set(Message("m:3", from: Person("p:3", ""))).wait()
            #expect(try cache.state("m:1") == state)
            #expect(try cache.statistics().hits == before.hits)
            #expect(try cache.inspect { try $0.commit } == Stamp(3))
        }
    }

    @Test(
        """
        An inspection sees the writes submitted before it and none after, and fails once the cache \
        is closed
        """)
    func snapshot() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        cache.set(Person("p:1", ""))
        try cache.inspect { inspection throws in
            #expect(try inspection.handle(of: "p:1", in: .node) != nil)
            let ticket = cache.set(Person("p:2", ""))
            ticket.whenDone { _ in }
            #expect(try inspection.handle(of: "p:2", in: .node) == nil)
        }
        #expect(try cache.inspect { try $0.handle(of: "p:2", in: .node) } != nil)
        cache.close()
        #expect(code { _ = try cache.inspect { try $0.commit } } == .closed)
    }

    @Test("Damaged counters are a CacheError, and an inspection rethrows the errors of its body")
    func errors() throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Person("p:1", "")).wait()
            try cache.tamper {
                try $0.put($1.info, Counters.key, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
            }
            #expect(code { _ = try cache.inspect { try $0.commit } } == .damaged)
            #expect(throws: Missing.self) { try cache.inspect { _ in throw Missing() } }
            try cache.removeAll().wait()
        }
    }
}

/// A model without an identifier that contains a model of its own type.
private struct Nest: NormalizedModel {
    var depth: Int

    var modelIdentifier: String? { nil }

    init(depth: Int) { self.depth = depth }

    init(from decoder: inout RecordDecoder) throws { depth = 0 }

    func encode(to encoder: inout RecordEncoder) throws {
        if depth > 0 { try encoder.encode(Nest(depth: depth - 1), forKey: "inner") }
    }
}
