import EspalierRecords
import Foundation
import Testing

/// A value whose wrapper encodes and decodes it by other calls than its field would.
///
/// A wrapper hands the value to its container, or calls the value's own `encode(to:)` and
/// `init(from:)` with its encoder and decoder. Many property wrappers do one when they write and
/// the other when they read. JSON has the same text for both.
struct BridgeWrapperTests {
    private let store = BridgeStore()

    private enum Suit: String, Codable, CodingKeyRepresentable { case hearts, spades }

    private enum Rank: Int, Codable, CodingKeyRepresentable { case two = 2, three }

    /// Checks that `value` is read as written by each pair of calls with which JSON reads it so.
    private func check<Value: Codable & Equatable & Sendable>(
        _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try check(value, as: Wrapped<Value, Container, Container>.self, sourceLocation)
        try check(value, as: Wrapped<Value, Itself, Itself>.self, sourceLocation)
        try check(value, as: Wrapped<Value, Itself, Container>.self, sourceLocation)
        try check(value, as: Wrapped<Value, Container, Itself>.self, sourceLocation)
    }

    private func check<Value: Equatable, W, R>(
        _ value: Value, as wrapper: Wrapped<Value, W, R>.Type, _ location: SourceLocation
    ) throws {
        let json = try JSONEncoder().encode([wrapper.init(value)])
        guard (try? JSONDecoder().decode([Wrapped<Value, W, R>].self, from: json)[0].value) == value
        else { return }
        let way: Comment = "written by its \(W.self), read by its \(R.self)"
        do {
            let back = try store.roundTrip([wrapper.init(value)])
            #expect(back.map(\.value) == [value], way, sourceLocation: location)
            let field = try store.roundTrip(wrapper.init(value))
            #expect(field.value == value, way, sourceLocation: location)
        } catch {
            Issue.record(error, way, sourceLocation: location)
        }
    }

    @Test("A scalar in a wrapper is read as it was written")
    func scalars() throws {
        try check(7)
        try check("text")
        try check(1.5)
        try check(true)
        try check(Optional(7))
        try check(Int?.none)
        try check(Date(timeIntervalSinceReferenceDate: 12.5))
        try check(Data([1, 2, 3]))
        try check(Decimal(string: "12.5")!)
        try check(URL(string: "https://example.org/a")!)
        try check(Suit.hearts)
    }

    @Test("A container in a wrapper is read as it was written")
    func containers() throws {
        try check([1, 2, 3])
        try check([Int]())
        try check([1, nil, 3])
        try check(Set(["a", "b"]))
        try check(["a": 1, "b": 2])
        try check([1: "a", -2: "b"])
        try check([UInt8(1): "a", 2: "b"])
        try check([UUID(): 1, UUID(): 2])
        try check([Suit.hearts: 1, .spades: 2])
        try check([Rank.two: "a", .three: "b"])
        try check([1.5: "a", 2.5: "b"])
        try check([UInt64.max: "a"])
        try check([Suit: Int]())
        try check([true: [1: 2], false: [3: 4]])
        try check(["a": [1: [UUID()]]])
        try check([Int: String]())
        try check([Date(timeIntervalSinceReferenceDate: 3)])
        try check(["a": Int?.none, "b": 3])
    }

    @Test("A model in a wrapper is read as it was written")
    func models() throws {
        let ada = Person(id: 1, name: "Ada")
        let bob = Person(id: 2, name: "Bob")
        try check(ada)
        try check(Optional(ada))
        try check([ada, bob])
        try check([ada, nil, bob])
        try check(["a": ada, "b": bob])
        try check([1: ada, 2: bob])
        try check([UUID(): ada])
        try check([ada: bob])
        try check(Envelope(person: ada))
        try check([Envelope(person: ada), Envelope(person: bob)])
    }

    @Test("A UUID that its container wrote can't be read by its own init(from:)")
    func uuids() throws {
        let uuid = UUID()
        #expect(try store.roundTrip(Wrapped<UUID, Container, Container>(uuid)).value == uuid)
        #expect(try store.roundTrip(Wrapped<UUID, Itself, Container>(uuid)).value == uuid)
        #expect(try store.roundTrip(Wrapped<UUID, Itself, Itself>(uuid)).value == uuid)
        #expect(throws: MissReason.self) {
            try store.roundTrip(Wrapped<UUID, Container, Itself>(uuid))
        }
    }

    private typealias Lists<Value: Codable & Sendable> = Holder<Wrapped<Value, Container, Itself>>

    @Test(
        "Deleted elements are left out of an array that decodes itself, wherever they are",
        arguments: [[], [1], [3], [1, 2], [2, 3], [1, 3], [1, 2, 3]])
    func deletedElements(_ deleted: [Int]) throws {
        let people = (1...3).map { Person(id: $0, name: "name") }
        try store.write(Lists<[Person]>(value: Wrapped(people)))
        for id in deleted { store.delete("Person:\(id)") }
        #expect(
            try store.read(Lists<[Person]>.self, "Holder").get().value.value
                == people.filter { !deleted.contains($0.id) })
    }

    @Test(
        "An array that decodes itself leaves out what requires a deleted record, except at its end")
    func deletedBelow() throws {
        let messages = (1...3).map { Message(id: $0, sender: Person(id: $0, name: "name")) }
        try store.write(Lists<[Message]>(value: Wrapped(messages)))
        store.delete("Person:1")
        store.delete("Person:2")
        #expect(
            try store.read(Lists<[Message]>.self, "Holder").get().value.value == [messages[2]])
        store.delete("Person:3")
        #expect(store.read(Lists<[Message]>.self, "Holder").failure == .deleted)
    }

    @Test("A deleted optional element is nil in an array that decodes itself")
    func deletedOptionals() throws {
        let people = [nil, Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob")]
        try store.write(Lists<[Person?]>(value: Wrapped(people)))
        store.delete("Person:2")
        #expect(
            try store.read(Lists<[Person?]>.self, "Holder").get().value.value
                == [nil, people[1], nil])
    }

    /// Three values in an unkeyed container, without asking for its end.
    private struct Triple: Codable, Equatable {
        let first: Person
        let second: Person
        let third: Person?

        init(_ people: [Person]) { (first, second, third) = (people[0], people[1], people[2]) }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            first = try container.decode(Person.self)
            second = try container.decode(Person.self)
            third = try container.decodeIfPresent(Person.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for person in [first, second, third] { try container.encode(person) }
        }
    }

    @Test("In a value that does not ask for the end, no element takes the place of a deleted one")
    func noShift() throws {
        let people = (1...3).map { Person(id: $0, name: "name") }
        try store.write(Holder(value: Triple(people)))
        store.delete("Person:3")
        #expect(try store.read(Holder<Triple>.self, "Holder").get().value.third == nil)
        store.delete("Person:1")
        #expect(store.read(Holder<Triple>.self, "Holder").failure == .deleted)
    }

    /// Pairs in a loop that asks for the end before each pair.
    private struct Pairs: Codable, Equatable {
        var people: [[Person]]

        init(_ people: [[Person]]) { self.people = people }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            people = []
            while !container.isAtEnd {
                let first = try container.decode(Person.self)
                people.append([first, try container.decode(Person.self)])
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for person in people.joined() { try container.encode(person) }
        }
    }

    /// Models of which the later ones may be missing.
    private struct Credits: Codable, Equatable {
        let author: Person
        let editor: Person?
        let reader: Person?

        init(_ people: [Person]) { (author, editor, reader) = (people[0], people[1], people[2]) }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            author = try container.decode(Person.self)
            editor = container.isAtEnd ? nil : try container.decode(Person.self)
            reader = container.isAtEnd ? nil : try container.decode(Person.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for person in [author, editor, reader] { try container.encode(person) }
        }
    }

    @Test(
        "In a loop over pairs, and with optional ends, no element takes the place of a deleted one",
        arguments: 1...4)
    func noShiftInLoops(_ deleted: Int) throws {
        let people = (1...4).map { Person(id: $0, name: "name") }
        let pairs = Pairs([[people[0], people[1]], [people[2], people[3]]])
        try store.write(Holder(value: pairs))
        store.delete("Person:\(deleted)")
        #expect(store.read(Holder<Pairs>.self, "Holder").failure == .deleted)
        let credits = Credits(people)
        try store.write(Holder(value: credits))
        store.delete("Person:\(deleted)")
        let read = store.read(Holder<Credits>.self, "Holder")
        #expect(deleted == 4 ? read == .success(Holder(value: credits)) : read.failure == .deleted)
    }

    @Test(
        "A deleted value of a dictionary that decodes itself deletes the dictionary",
        arguments: [1, 2, 3])
    func deletedEntries(_ deleted: Int) throws {
        let people = (1...3).map { Person(id: $0, name: "name") }
        let dates = people.map { Date(timeIntervalSinceReferenceDate: Double($0.id)) }
        let entries = Dictionary(uniqueKeysWithValues: zip(dates, people))
        typealias Entries = Holder<Wrapped<[Date: Person], Itself, Itself>>
        try store.write(Entries(value: Wrapped(entries)))
        store.delete("Person:\(deleted)")
        #expect(store.read(Entries.self, "Holder").failure == .deleted)
        // The cache itself reads dictionaries of a container.
        typealias Own = Holder<Wrapped<[Date: Person], Itself, Container>>
        #expect(
            try store.read(Own.self, "Holder").get().value.value
                == entries.filter { $1.id != deleted })
    }

    /// A list that reads its elements if they are present.
    private struct Maybes: Codable, Equatable {
        var people: [Person?]

        init(_ people: [Person?]) { self.people = people }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            people = []
            while !container.isAtEnd {
                people.append(try container.decodeIfPresent(Person.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for person in people { try container.encode(person) }
        }
    }

    @Test("A deleted element that is decoded if it is present is nil, also at the end")
    func deletedMaybes() throws {
        let people = (1...3).map { Person(id: $0, name: "name") }
        try store.write(Holder(value: Maybes(people)))
        store.delete("Person:2")
        store.delete("Person:3")
        #expect(
            try store.read(Holder<Maybes>.self, "Holder").get().value.people
                == [people[0], nil, nil])
    }

    /// A model that reads a nested container in a loop.
    private struct Album: Codable, Equatable, IdentifiedModel {
        var people: [Person]
        var modelIdentifier: String? { "Album" }

        private enum CodingKeys: CodingKey { case people }

        init(people: [Person]) { self.people = people }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            var list = try container.nestedUnkeyedContainer(forKey: .people)
            people = []
            while !list.isAtEnd { people.append(try list.decode(Person.self)) }
        }
    }

    @Test("Deleted elements are left out of a loop over a nested container")
    func nestedLoop() throws {
        let people = (1...4).map { Person(id: $0, name: "name") }
        try store.write(Album(people: people))
        #expect(try store.read(Album.self, "Album").get().people == people)
        store.delete("Person:2")
        store.delete("Person:4")
        #expect(try store.read(Album.self, "Album").get().people == [people[0], people[2]])
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// How a wrapper encodes or decodes its value.
private protocol Way {
    static var callsItself: Bool { get }
}

private enum Container: Way { static let callsItself = false }
private enum Itself: Way { static let callsItself = true }

private struct Wrapped<Value: Codable & Sendable, Write: Way, Read: Way>: Codable, Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        value =
            try Read.callsItself
            ? Value(from: decoder) : decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        if Write.callsItself { return try value.encode(to: encoder) }
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
