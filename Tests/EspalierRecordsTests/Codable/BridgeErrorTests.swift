import EspalierRecords
import Testing

/// Errors name their place, and a model may go on after one.
struct BridgeErrorTests {
    private let store = BridgeStore()

    private struct Wide: Codable, IdentifiedModel {
        var id = 1
        var text = "ten"
        var number = 300
        var inner = Inner()
        var list = [Inner(), Inner(deep: ["x"])]
        var map = ["k": Inner()]
        var modelIdentifier: String? { "Wide:\(id)" }
        struct Inner: Codable { var deep = ["a", "b"] }
    }

    private struct Narrow<Value: Decodable & Sendable>: Decodable, IdentifiedModel {
        let value: Value
        var modelIdentifier: String? { nil }
    }

    private func miss<Value: Decodable & Sendable>(
        _ type: Value.Type, _ value: some Codable & Sendable
    ) throws
        -> MissReason?
    {
        try store.write(Holder(value: value))
        guard case .failure(let reason) = store.read(Narrow<Value>.self, "Holder") else {
            return nil
        }
        return reason
    }

    @Test("A mismatch is a miss that names record, field and element")
    func paths() throws {
        struct Strings: Codable { var list: [Inner]; struct Inner: Codable { var deep: [Int] } }
        struct Map: Codable { var map: [String: Strings.Inner] }
        let wide = Wide(list: [Wide.Inner(deep: []), Wide.Inner(deep: ["x"])])
        #expect(
            try miss(Int.self, "text")?.description
                == "undecodable at Holder.value: expected an integer that fits Int, found string")
        try store.write(wide)
        #expect(throws: MissReason.self) { try store.read(Strings.self, "Wide:1").get() }
        guard case .failure(.undecodable(let inner, _)) = store.read(Strings.self, "Wide:1") else {
            throw CancellationError()
        }
        #expect(inner == "Wide:1.list[1].deep[0]")
        guard case .undecodable(let outer, _)? = try miss(Strings.self, wide) else {
            throw CancellationError()
        }
        #expect(outer == "Wide:1.list[1].deep[0]")
        guard case .failure(.undecodable(let entry, _)) = store.read(Map.self, "Wide:1") else {
            throw CancellationError()
        }
        #expect(entry == "Wide:1.map.k.deep[0]")
    }

    @Test("A mismatch in nested containers names all of them, and the case of an enum")
    func nestedPaths() throws {
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            var list = top.nestedUnkeyedContainer(forKey: "list")
            try list.encode(1)
            var map = list.nestedContainer(keyedBy: Key.self)
            try map.encode("text", forKey: "text")
            try map.encode(Wide.Inner(), forKey: "inner")
        } _: { _ in
        }
        struct Numbers: Decodable { let deep: [Int] }
        func path(_ read: @escaping (KeyedDecodingContainer<Key>) throws -> Void) throws -> String?
        {
            let outcome = store.probe { decoder in
                var list = try decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(
                    forKey: "list")
                _ = try list.decode(Int.self)
                try read(try list.nestedContainer(keyedBy: Key.self))
            }
            guard case .failure(.undecodable(let path, _)) = outcome else { return nil }
            return path
        }
        #expect(try path { _ = try $0.decode(Int.self, forKey: "text") } == "Scripted.list[1].text")
        #expect(try path { _ = try $0.decode(Int.self, forKey: "none") } == "Scripted.list[1].none")
        #expect(
            try path { _ = try $0.decode(Numbers.self, forKey: "inner") }
                == "Scripted.list[1].inner.deep[0]")
        #expect(
            try path { _ = try $0.nestedUnkeyedContainer(forKey: "inner") }
                == "Scripted.list[1].inner")
        #expect(
            try path { _ = try String(from: $0.superDecoder(forKey: "inner")) }
                == "Scripted.list[1].inner")
        #expect(try path { _ = try $0.decode(String.self, forKey: "text") } == nil)

        enum Old: Codable { case image(link: String) }
        enum New: Codable { case image(link: Int) }
        guard case .undecodable(let place, _)? = try miss([New].self, [Old.image(link: "cat")])
        else {
            throw CancellationError()
        }
        #expect(place == "Holder.value[0].image.link")
    }

    @Test("A Codable number is read as another type where that is exact, and is a miss where not")
    func numbers() throws {
        try store.write(Holder(value: 1 << 53))
        #expect(try store.read(Narrow<Double>.self, "Holder").get().value == 9_007_199_254_740_992)
        #expect(try miss(Double.self, 1 << 53 + 1) != nil)
        #expect(try miss(Double.self, UInt64(1) << 63) == nil)
        #expect(try miss(Float.self, UInt64(1) << 63) == nil)
        #expect(try miss(Double.self, UInt64.max) != nil)
        #expect(try miss(Int8.self, 300) != nil)
        #expect(try miss(UInt.self, -1) != nil)
        #expect(try miss(Int.self, 1.5) != nil)
        #expect(try miss(Int.self, true) != nil)
        #expect(try miss(Bool.self, 1) != nil)
        #expect(try miss(String.self, 1) != nil)
        #expect(try miss([Int].self, ["k": 1]) != nil)
        #expect(try miss(Int.self, Int?.none) != nil)
        #expect(try miss(Int.self, Int64.max) == nil)
    }

    @Test("A lenient initialiser tries one type, then another, and goes on with the other fields")
    func lenient() throws {
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try top.encode("12", forKey: "number")
            try top.encode(["deep": [1]], forKey: "inner")
            try top.encode(5, forKey: "five")
            try top.encode([1, 2], forKey: "list")
            try top.encode(7, forKey: "seven")
        } _: { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            #expect((try? top.decode(Int.self, forKey: "number")) == nil)
            #expect(try top.decode(String.self, forKey: "number") == "12")
            #expect((try? top.decode(Wide.Inner.self, forKey: "inner")) == nil)
            #expect((try? top.decodeIfPresent(String.self, forKey: "inner")) == nil)
            #expect((try? top.decodeIfPresent([String].self, forKey: "inner")) == nil)
            #expect(try top.decode(Int.self, forKey: "five") == 5)
            var list = try top.nestedUnkeyedContainer(forKey: "list")
            #expect((try? list.decode(String.self)) == nil)
            #expect(try list.decode(Int.self) == 1)
            #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
            #expect(try list.decode(Int.self) == 2)
            #expect(throws: DecodingError.self) { try top.decode(Int.self, forKey: "none") }
            #expect(!top.contains("none"))
            #expect(top.contains("seven"))
            #expect(try top.decode(Int.self, forKey: "seven") == 7)
            #expect(try top.decode(String.self, forKey: "number") == "12")
        }
    }

    @Test("An inline value is read leniently too")
    func lenientInline() throws {
        struct Loose: Decodable, Sendable {
            let a: Int?, b: String, c: Int
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                a = try? container.decode(Int.self, forKey: "a")
                b = try container.decode(String.self, forKey: "b")
                c = try container.decode(Int.self, forKey: "c")
            }
        }
        struct Tight: Codable { var a = "x", b = "y", c = 3 }
        try store.write(Holder(value: [Tight(), Tight()]))
        let read = try store.read(Narrow<[Loose]>.self, "Holder").get().value
        #expect(read.map(\.c) == [3, 3])
        #expect(read.map(\.b) == ["y", "y"])
        #expect(read.allSatisfy { $0.a == nil })
    }

    @Test("A Codable model sees mismatches as standard errors with the field in their path")
    func standardErrors() throws {
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try top.encode(["deep": [1]], forKey: "inner")
            try top.encodeNil(forKey: "nil")
        } _: { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            #expect { try top.decode(Int.self, forKey: "none") } throws: {
                guard case DecodingError.keyNotFound(let key, _)? = $0 as? DecodingError else {
                    return false
                }
                return key.stringValue == "none"
            }
            #expect { try top.decode(Wide.Inner.self, forKey: "inner") } throws: {
                guard case DecodingError.typeMismatch(_, let context)? = $0 as? DecodingError else {
                    return false
                }
                return context.codingPath.map(\.stringValue) == ["inner", "deep"]
            }
            #expect(throws: DecodingError.self) { try top.decode(Int.self, forKey: "nil") }
            #expect(throws: DecodingError.self) {
                try top.nestedContainer(keyedBy: Key.self, forKey: "nil")
            }
            #expect(throws: DecodingError.self) {
                try top.nestedContainer(keyedBy: Key.self, forKey: "none")
            }
        }
    }

    private struct Refusal: Error {}

    private struct Refusing: Codable {
        init() {}
        init(from decoder: any Decoder) throws { throw Refusal() }
        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            throw Refusal()
        }
    }

    @Test("A model's own error reaches the model that asks for it")
    func ownErrors() throws {
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try top.encode([1], forKey: "a")
            #expect(throws: Refusal.self) { try top.encode(Refusing(), forKey: "b") }
            try top.encode(2, forKey: "c")
            var nested = top.nestedUnkeyedContainer(forKey: "d")
            try? nested.encode(Refusing())
            try nested.encode(3)
        } _: { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            #expect(throws: Refusal.self) { try top.decode(Refusing.self, forKey: "a") }
            #expect(try top.decodeNil(forKey: "b"))
            #expect(try top.decode(Int.self, forKey: "c") == 2)
            #expect(try top.decode([Int?].self, forKey: "d") == [nil, 3])
        }
        #expect { try store.write(Holder(value: Refusing())) } throws: {
            guard case FlattenError.modelFailed? = $0 as? FlattenError else { return false }
            return true
        }
    }

    @Test("A node that can't be written fails the write, even if its parent swallows the error")
    func swallowedNode() throws {
        struct Bad: Encodable, IdentifiedModel {
            var modelIdentifier: String? { "Bad" }
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let forgiving = Scripted { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try? top.encode(Bad(), forKey: "bad")
        }
        #expect { try store.write(forgiving) } throws: {
            guard case FlattenError.modelFailed(type: "Bad", _)? = $0 as? FlattenError else {
                return false
            }
            return true
        }
    }

    @Test("The path of an initialiser's own error comes from its coding path")
    func placedErrors() throws {
        struct Picky: Decodable, Sendable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                throw DecodingError.dataCorruptedError(
                    forKey: "deep", in: container, debugDescription: "never")
            }
        }
        #expect(
            try miss([Picky].self, [Wide.Inner()])
                == .undecodable(path: "Holder.value[0].deep", detail: "never"))
    }

    @Test("A value that encodes itself in two kinds of containers is refused")
    func twoKinds() {
        struct Both: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                _ = encoder.container(keyedBy: Key.self)
            }
        }
        struct Around: Encodable, IdentifiedModel {
            let both = Both()
            var modelIdentifier: String? { "Around" }
        }
        #expect(throws: FlattenError.self) { try store.write(Around()) }
    }

    private indirect enum Nest: Codable, Sendable {
        case end
        case deeper(Nest)
    }

    private final class Chain: Codable, Sendable {
        let next: Chain?
        private enum CodingKeys: CodingKey { case isLink, next }
        init(_ next: Chain?) { self.next = next }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            // Only a call that may throw can stop the recursion.
            try container.encode(true, forKey: .isLink)
            try next?.encode(to: container.superEncoder(forKey: .next))
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            next =
                container.contains(.next)
                ? try Chain(from: container.superDecoder(forKey: .next)) : nil
        }
    }

    @Test("Codable nesting beyond the limit is too deep in writing and reading, and no overflow")
    func depth() throws {
        let nest = (0..<200).reduce(Nest.end) { nest, _ in .deeper(nest) }
        #expect(throws: FlattenError.tooDeep(limit: 100)) {
            try store.write(Holder(value: nest), limits: limits(100))
        }
        try store.write(Holder(value: nest), limits: limits(1_000))
        #expect(throws: Never.self) {
            try store.read(Holder<Nest>.self, "Holder", limits: limits(1_000)).get()
        }
        guard case .failure(.tooDeep) = store.read(Holder<Nest>.self, "Holder", limits: limits(100))
        else {
            Issue.record("read deeper than the limit")
            return
        }
        let chain = (0..<20_000).reduce(Chain(nil)) { chain, _ in Chain(chain) }
        #expect(throws: FlattenError.self) {
            try store.write(Holder(value: chain), limits: limits(1_000_000))
        }
    }

    private func limits(_ depth: Int) -> TreeLimits {
        var limits = TreeLimits()
        limits.maximumDepth = depth
        return limits
    }

    @Test("A type without Codable can't be stored, and one with half of it works one way")
    func notStorable() throws {
        struct Opaque: IdentifiedModel { var modelIdentifier: String? { "Person:1" } }
        struct WriteOnly: Encodable, IdentifiedModel { var modelIdentifier: String? { "Person:1" } }
        struct ReadOnly: Decodable, IdentifiedModel { var modelIdentifier: String? { "Person:1" } }
        #expect(throws: FlattenError.notStorable(type: "Opaque")) { try store.write(Opaque()) }
        #expect(throws: FlattenError.notStorable(type: "ReadOnly")) { try store.write(ReadOnly()) }
        try store.write(WriteOnly())
        #expect(throws: Never.self) { try store.read(ReadOnly.self, "Person:1").get() }
        #expect(throws: MissReason.notStorable(type: "Opaque")) {
            try store.read(Opaque.self, "Person:1").get()
        }
        #expect(throws: MissReason.notStorable(type: "WriteOnly")) {
            try store.read(WriteOnly.self, "Person:1").get()
        }
        let opened: any IdentifiedModel = Message()
        try store.write(opened)
        #expect(try store.read(Message.self, "Message:34").get() == Message())
    }
}
