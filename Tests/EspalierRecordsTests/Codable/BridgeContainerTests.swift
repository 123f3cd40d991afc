import EspalierRecords
import Testing

/// Containers used in every way that `Encoder` and `Decoder` allow.
struct BridgeContainerTests {
    private let store = BridgeStore()
    private let ada = Person(id: 1, name: "Ada")

    @Test("Nested containers may be filled after their neighbours")
    func interleaved() throws {
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try top.encode(1, forKey: "first")
            var map = top.nestedContainer(keyedBy: Key.self, forKey: "map")
            var list = top.nestedUnkeyedContainer(forKey: "list")
            try top.encode("x", forKey: "last")
            try list.encode(1)
            try map.encode(ada, forKey: "person")
            var inner = list.nestedContainer(keyedBy: Key.self)
            try list.encode("end")
            try map.encodeNil(forKey: "nil")
            try inner.encode([1, 2], forKey: "deep")
            var again = top.nestedContainer(keyedBy: Key.self, forKey: "map")
            try again.encode(true, forKey: "more")
        } _: { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            var list = try top.nestedUnkeyedContainer(forKey: "list")
            let map = try top.nestedContainer(keyedBy: Key.self, forKey: "map")
            #expect(list.count == 3)
            #expect(try list.decode(Int.self) == 1)
            #expect(try top.decode(String.self, forKey: "last") == "x")
            let inner = try list.nestedContainer(keyedBy: Key.self)
            #expect(try map.decode(Person.self, forKey: "person") == ada)
            #expect(try list.decode(String.self) == "end")
            #expect(list.isAtEnd)
            #expect(try inner.decode([Int].self, forKey: "deep") == [1, 2])
            #expect(try map.decodeNil(forKey: "nil"))
            #expect(try map.decode(Bool.self, forKey: "more"))
            #expect(try top.decode(Int.self, forKey: "first") == 1)
            #expect(top.allKeys.map(\.stringValue) == ["first", "map", "list", "last"])
        }
        #expect(store.bytes(of: "Person:1") != nil)
    }

    @Test("The last of two values under one key wins, in records and in inline values")
    func sameKeyTwice() throws {
        func write(_ container: inout KeyedEncodingContainer<Key>) throws {
            try container.encode(1, forKey: "a")
            try container.encode(2, forKey: "b")
            try container.encode("one", forKey: "a")
            var nested = container.nestedContainer(keyedBy: Key.self, forKey: "b")
            try nested.encode(3, forKey: "c")
            try nested.encode([4], forKey: "c")
            try container.encode(5, forKey: "d")
        }
        func check(_ container: KeyedDecodingContainer<Key>) throws {
            #expect(container.allKeys.map(\.stringValue) == ["a", "b", "d"])
            #expect(try container.decode(String.self, forKey: "a") == "one")
            #expect(
                try container.nestedContainer(keyedBy: Key.self, forKey: "b").decode(
                    [Int].self, forKey: "c") == [4])
            #expect(try container.decode(Int.self, forKey: "d") == 5)
        }
        for _ in 0..<2 {
            try store.script { encoder in
                var top = encoder.container(keyedBy: Key.self)
                try write(&top)
            } _: {
                try check($0.container(keyedBy: Key.self))
            }
        }
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            var inline = top.nestedContainer(keyedBy: Key.self, forKey: "inline")
            try write(&inline)
        } _: {
            try check(
                $0.container(keyedBy: Key.self).nestedContainer(keyedBy: Key.self, forKey: "inline")
            )
        }
    }

    private class Animal: Codable {
        var legs = 4
        var owner: Person?
    }

    private final class Dog: Animal, IdentifiedModel, @unchecked Sendable {
        var name = "Rex"
        var modelIdentifier: String? { "Dog:1" }
        private enum CodingKeys: CodingKey { case name }

        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(name, forKey: .name)
        }
    }

    @Test("Classes encode their superclass through super encoders")
    func superEncoders() throws {
        let dog = Dog()
        dog.legs = 3
        dog.owner = ada
        try store.write(dog)
        let read = try store.read(Dog.self, "Dog:1").get()
        #expect((read.name, read.legs, read.owner) == ("Rex", 3, ada))
        store.delete("Person:1")
        #expect(try store.read(Dog.self, "Dog:1").get().owner == nil)
    }

    @Test("Unkeyed super encoders and nested unkeyed containers keep their order")
    func unkeyed() throws {
        try store.script { encoder in
            var top = encoder.unkeyedContainer()
            try ada.encode(to: top.superEncoder())
            var nested = top.nestedUnkeyedContainer()
            try top.encode(ada)
            for index in 0..<40 { try nested.encode(index) }
            try top.encodeNil()
            #expect(top.count == 4)
        } _: { decoder in
            var top = try decoder.unkeyedContainer()
            #expect(top.count == 4)
            #expect(try Person(from: top.superDecoder()) == ada)
            var nested = try top.nestedUnkeyedContainer()
            #expect(nested.count == 40)
            #expect(try top.decode(Person.self) == ada)
            #expect(throws: DecodingError.self) { try top.decode(Int.self) }
            #expect(try top.decodeNil())
            #expect(throws: DecodingError.self) { try top.decode(Int.self) }
            for index in 0..<40 { #expect(try nested.decode(Int.self) == index) }
        }
        #expect(try store.fields(of: "Scripted").map(\.name) == ["$value"])
    }

    @Test("A model may encode a single value, or nothing")
    func wholeValues() throws {
        try store.script { encoder in
            var single = encoder.singleValueContainer()
            try single.encode("old")
            try single.encode("new")
        } _: { decoder in
            let single = try decoder.singleValueContainer()
            #expect(!single.decodeNil())
            #expect(try single.decode(String.self) == "new")
            #expect(throws: DecodingError.self) { try single.decode(Int.self) }
        }
        try store.script { _ in
        } _: { (decoder: any Decoder) throws in
            #expect(try decoder.container(keyedBy: Key.self).allKeys.isEmpty)
            #expect(throws: DecodingError.self) {
                try decoder.singleValueContainer().decode(Int.self)
            }
        }
        #expect(try store.fields(of: "Scripted").isEmpty)
    }

    private struct Nothing: Codable, Equatable {}

    private struct AnyOf: Codable, Equatable {
        var number: Int?
        var words: [String]?
        var point: [String: Int]?

        init(number: Int? = nil, words: [String]? = nil, point: [String: Int]? = nil) {
            (self.number, self.words, self.point) = (number, words, point)
        }
        init(from decoder: any Decoder) throws {
            let single = try decoder.singleValueContainer()
            number = try? single.decode(Int.self)
            if number == nil { words = try? single.decode([String].self) }
            if number == nil, words == nil, !single.decodeNil() {
                point = try single.decode([String: Int].self)
            }
        }
        func encode(to encoder: any Encoder) throws {
            var single = encoder.singleValueContainer()
            if let number {
                try single.encode(number)
            } else if let words {
                try single.encode(words)
            } else if let point {
                try single.encode(point)
            } else {
                try single.encodeNil()
            }
        }
    }

    @Test("Inline values may have no form, one form or changing forms")
    func inlineForms() throws {
        #expect(try store.roundTrip([Nothing(), Nothing()]) == [Nothing(), Nothing()])
        let values = [
            AnyOf(number: 1), AnyOf(words: ["a"]), AnyOf(point: ["x": 1]), AnyOf(),
            AnyOf(words: []),
        ]
        #expect(try store.roundTrip(values) == values)
        #expect(try store.roundTrip(["k": values]) == ["k": values])
    }

    private struct Flattened: Codable, Equatable {
        var inner: Person
        var extra: Int
        private enum CodingKeys: CodingKey { case extra }
        init(inner: Person, extra: Int) { (self.inner, self.extra) = (inner, extra) }
        init(from decoder: any Decoder) throws {
            inner = try Person(from: decoder)
            extra = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .extra)
        }
        func encode(to encoder: any Encoder) throws {
            try inner.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(extra, forKey: .extra)
        }
    }

    @Test("Two values may share one encoder")
    func flattened() throws {
        let value = [Flattened(inner: ada, extra: 7), Flattened(inner: ada, extra: 8)]
        #expect(try store.roundTrip(value) == value)
    }

    @Test("Long maps and lists of nested containers keep their counts")
    func counts() throws {
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            var map = top.nestedContainer(keyedBy: Key.self, forKey: "map")
            for index in 0..<300 {
                var nested = map.nestedUnkeyedContainer(forKey: Key(stringValue: "k\(index)"))
                try nested.encode(index)
            }
        } _: { decoder in
            let map = try decoder.container(keyedBy: Key.self).nestedContainer(
                keyedBy: Key.self, forKey: "map")
            #expect(map.allKeys.count == 300)
            for index in (0..<300).reversed() {
                #expect(
                    try map.decode([Int].self, forKey: Key(stringValue: "k\(index)")) == [index])
            }
        }
    }

    @Test("Coding paths name the fields and elements in which a value stands")
    func codingPaths() throws {
        struct Path: Codable, Equatable {
            var names: [String] = []
            init() {}
            init(from decoder: any Decoder) throws { names = decoder.codingPath.map(\.stringValue) }
            func encode(to encoder: any Encoder) throws {
                #expect(encoder.codingPath.last?.stringValue == "path")
                var single = encoder.singleValueContainer()
                try single.encode(1)
            }
        }
        try store.script { encoder in
            var top = encoder.container(keyedBy: Key.self)
            #expect(top.codingPath.isEmpty)
            try top.encode(Path(), forKey: "path")
            var list = top.nestedUnkeyedContainer(forKey: "list")
            var nested = list.nestedContainer(keyedBy: Key.self)
            try nested.encode(Path(), forKey: "path")
        } _: { decoder in
            let top = try decoder.container(keyedBy: Key.self)
            #expect(try top.decode(Path.self, forKey: "path").names == ["path"])
            var list = try top.nestedUnkeyedContainer(forKey: "list")
            let nested = try list.nestedContainer(keyedBy: Key.self)
            #expect(nested.codingPath.map(\.stringValue) == ["list", "Index 0"])
            #expect(
                try nested.decode(Path.self, forKey: "path").names == ["list", "Index 0", "path"])
        }
    }
}
