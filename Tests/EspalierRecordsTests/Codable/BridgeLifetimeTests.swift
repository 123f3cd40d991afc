import EspalierRecords
import Testing

/// Encoders, decoders and containers that users keep.
struct BridgeLifetimeTests {
    private let store = BridgeStore()

    private final class Kept {
        var decoder: (any Decoder)?
        var keyed: KeyedDecodingContainer<Key>?
        var nested: KeyedDecodingContainer<Key>?
        var list: (any UnkeyedDecodingContainer)?
        var single: (any SingleValueDecodingContainer)?
        var superDecoder: (any Decoder)?
        var encoder: (any Encoder)?
        var writing: KeyedEncodingContainer<Key>?
        var writingNested: (any UnkeyedEncodingContainer)?
    }

    private func write(_ kept: Kept) throws {
        try store.write(
            Scripted { encoder in
                var top = encoder.container(keyedBy: Key.self)
                try top.encode(1, forKey: "a")
                var nested = top.nestedContainer(keyedBy: Key.self, forKey: "nested")
                try nested.encode(2, forKey: "b")
                var list = top.nestedUnkeyedContainer(forKey: "list")
                try list.encode(3)
                (kept.encoder, kept.writing, kept.writingNested) = (encoder, top, list)
            })
    }

    private func expectClosed(_ kept: Kept) throws {
        let keyed = try #require(kept.keyed)
        #expect(throws: DecodingError.self) { try keyed.decode(Int.self, forKey: "a") }
        #expect(throws: DecodingError.self) { try keyed.decodeIfPresent(Int.self, forKey: "a") }
        #expect(throws: DecodingError.self) { try keyed.decode([Int].self, forKey: "a") }
        #expect(throws: DecodingError.self) { try keyed.decodeIfPresent([Int].self, forKey: "a") }
        #expect(throws: DecodingError.self) { try keyed.decodeNil(forKey: "a") }
        #expect(throws: DecodingError.self) {
            try keyed.nestedContainer(keyedBy: Key.self, forKey: "nested")
        }
        #expect(throws: DecodingError.self) { try keyed.superDecoder() }
        #expect(!keyed.contains("a"))
        #expect(keyed.allKeys.isEmpty)
        #expect(throws: DecodingError.self) { try kept.nested?.decode(Int.self, forKey: "b") }
        #expect(throws: DecodingError.self) { try kept.list?.decode(Int.self) }
        #expect(throws: DecodingError.self) { try kept.list?.decodeNil() }
        #expect(throws: DecodingError.self) { try kept.single?.decode(Int.self) }
        #expect(throws: DecodingError.self) { try kept.superDecoder?.container(keyedBy: Key.self) }
        #expect(throws: DecodingError.self) {
            try kept.decoder?.container(keyedBy: Key.self).decode(Int.self, forKey: "a")
        }
        #expect(throws: DecodingError.self) { try kept.decoder?.unkeyedContainer() }
    }

    private func keep(_ decoder: any Decoder, in kept: Kept) throws {
        let top = try decoder.container(keyedBy: Key.self)
        kept.decoder = decoder
        kept.keyed = top
        kept.nested = try top.nestedContainer(keyedBy: Key.self, forKey: "nested")
        kept.list = try top.nestedUnkeyedContainer(forKey: "list")
        kept.superDecoder = try top.superDecoder(forKey: "nested")
        kept.single = try top.superDecoder(forKey: "a").singleValueContainer()
        #expect(try kept.single?.decode(Int.self) == 1)
    }

    @Test("A decoder that is kept throws once its value is made, and reads nothing")
    func keptDecoder() throws {
        let kept = Kept()
        try write(kept)
        _ = try store.probe { try keep($0, in: kept) }.get()
        try expectClosed(kept)
    }

    @Test("A decoder that is kept throws also when the initialiser threw")
    func keptByThrowing() throws {
        let kept = Kept()
        try write(kept)
        let result = store.probe {
            try keep($0, in: kept)
            throw CancellationError()
        }
        #expect(throws: MissReason.self) { try result.get() }
        try expectClosed(kept)
    }

    @Test("The decoder of an inline value is closed with the value, while the record is still read")
    func keptInline() throws {
        final class Leaky: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) throws { self.decoder = decoder }
        }
        try write(Kept())
        _ = try store.probe { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            let leaky = try top.decode(Leaky.self, forKey: "nested")
            #expect(throws: DecodingError.self) { try leaky.decoder.container(keyedBy: Key.self) }
            #expect(try top.decode([Int].self, forKey: "list") == [3])
        }.get()
    }

    @Test("An encoder that is kept refuses to write")
    func keptEncoder() throws {
        let kept = Kept()
        try write(kept)
        let bytes = store.bytes(of: "Scripted")
        #expect(throws: EncodingError.self) { try kept.writing?.encode(2, forKey: "a") }
        #expect(throws: EncodingError.self) { try kept.writing?.encode([2], forKey: "z") }
        #expect(throws: EncodingError.self) { try kept.writingNested?.encode(2) }
        var late = kept.encoder?.container(keyedBy: Key.self)
        #expect(throws: EncodingError.self) { try late?.encode(1, forKey: "late") }
        #expect(store.bytes(of: "Scripted") == bytes)
    }

    @Test("A value that uses the container in which it stands is refused")
    func reentrance() throws {
        final class Outer {
            var writing: KeyedEncodingContainer<Key>?
            var reading: KeyedDecodingContainer<Key>?
        }
        struct Meddling: Codable {
            // Unchecked: this test has one thread.
            nonisolated(unsafe) static var outer = Outer()
            init() {}
            init(from decoder: any Decoder) throws {
                #expect(throws: DecodingError.self) {
                    try unsafe Meddling.outer.reading?.decode(Int.self, forKey: "a")
                }
            }
            func encode(to encoder: any Encoder) throws {
                #expect(throws: EncodingError.self) {
                    try unsafe Meddling.outer.writing?.encode(1, forKey: "z")
                }
                var single = encoder.singleValueContainer()
                try single.encode("m")
            }
        }
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            unsafe Meddling.outer.writing = top
            try top.encode(1, forKey: "a")
            try top.encode(Meddling(), forKey: "m")
            try top.encode(2, forKey: "b")
        } _: { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            unsafe Meddling.outer.reading = top
            _ = try top.decode(Meddling.self, forKey: "m")
            #expect(try top.decode(Int.self, forKey: "a") == 1)
            #expect(try top.decode(Int.self, forKey: "b") == 2)
            #expect(top.allKeys.count == 3)
        }
    }

    @Test("Flattening and reading leave no object behind, whether they succeed or not")
    func noLeaks() throws {
        struct Refusing: Encodable, IdentifiedModel {
            var modelIdentifier: String? { "Refusing" }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var nested = container.nestedContainer(keyedBy: Key.self, forKey: "a")
                _ = nested.nestedUnkeyedContainer(forKey: "b")
                _ = container.nestedUnkeyedContainer(forKey: "a")
                try container.encode(Message(), forKey: "message")
                throw CancellationError()
            }
        }
        weak var flattener: Flattener?
        func flatten(_ model: some IdentifiedModel) {
            let made = Flattener()
            flattener = made
            _ = try? made.value { try ModelStorage.encode(model, into: $0) }
        }
        flatten(Message())
        #expect(flattener == nil)
        flatten(Refusing())
        #expect(flattener == nil)

        try store.write(Message())
        weak var treeReader: TreeReader?
        func readRecord<Model>(_ type: Model.Type) {
            let made = TreeReader(source: store)
            treeReader = made
            _ = made.read("") {
                try ModelStorage.decode(type, entry: Handle(1), identifier: "Message:34", of: made)
            }
        }
        readRecord(Message.self)
        #expect(treeReader == nil)
        readRecord(Person.self)
        #expect(treeReader == nil)
    }
}
