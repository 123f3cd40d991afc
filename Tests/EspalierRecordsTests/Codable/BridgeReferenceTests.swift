import EspalierRecords
import Testing

/// Models inside models: references at any depth, and reads after their records are gone.
struct BridgeReferenceTests {
    private let store = BridgeStore()
    private let ada = Person(id: 1, name: "Ada")
    private let bob = Person(id: 2, name: "Bob")

    private var everything: Gathering {
        Gathering(
            optional: ada, list: [ada, bob], lists: [[ada], [], [bob, ada]],
            optionals: [ada, nil, bob],
            set: [ada, bob],
            byName: ["a": ada, "b": bob], inline: Envelope(person: ada),
            inlines: [Envelope(person: bob), Envelope(person: ada)],
            attachment: .pair(first: ada, second: bob),
            attachments: [.none, .person(ada), .list([ada, bob])])
    }

    @Test("Codable models become references in every nesting, one record each")
    func references() throws {
        let tree = try store.write(everything)
        #expect(tree.nodes.map(\.identifier) == ["Gathering:g", "Person:1", "Person:2"])
        #expect(tree.nodes[0].projections[0].children == [1, 2])
        #expect(store.read(Gathering.self, "Gathering:g") == .success(everything))
    }

    @Test("Writing a model changes it in every tree that contains it")
    func normalized() throws {
        try store.write(everything)
        try store.write(Person(id: 1, name: "Countess"))
        let read = try store.read(Gathering.self, "Gathering:g").get()
        #expect(read.optional?.name == "Countess")
        #expect(read.lists[2][1].name == "Countess")
        #expect(read.attachments[1] == .person(Person(id: 1, name: "Countess")))
    }

    @Test("A deleted record is nil where optional, and left out of Codable containers")
    func deletedIsLeftOut() throws {
        try store.write(everything)
        store.delete("Person:1")
        var expected = everything
        expected.optional = nil
        expected.list = [bob]
        expected.lists = [[], [], [bob]]
        expected.optionals = [nil, nil, bob]
        expected.set = [bob]
        expected.byName = ["b": bob]
        // A deleted required model deletes the inline value around it.
        expected.inline = nil
        expected.inlines = [Envelope(person: bob)]
        expected.attachment = nil
        expected.attachments = [.none, .list([bob])]
        #expect(store.read(Gathering.self, "Gathering:g") == .success(expected))
    }

    @Test("A deleted optional payload is nil inside its case")
    func deletedOptionalPayload() throws {
        try store.write(everything)
        store.delete("Person:2")
        #expect(
            try store.read(Gathering.self, "Gathering:g").get().attachment
                == .pair(first: ada, second: nil))
    }

    @Test("A deleted required record deletes the record that requires it, up to the entry")
    func deletionClimbs() throws {
        try store.write(Holder(value: [Message(id: 1, sender: ada), Message(id: 2, sender: bob)]))
        store.delete("Person:2")
        let read = try store.read(Holder<[Message]>.self, "Holder").get()
        #expect(read.value == [Message(id: 1, sender: ada)])
        #expect(store.read(Message.self, "Message:2") == .failure(.deleted))
    }

    @Test("A lost or dangling record is a miss wherever it stands, and the miss says where")
    func absence() throws {
        try store.write(everything)
        store.lose("Person:1")
        #expect(
            store.read(Gathering.self, "Gathering:g")
                == .failure(.lost(path: "Gathering:g.optional")))
        try store.write(Message(id: 34, sender: bob))
        store.forget("Person:2")
        #expect(
            store.read(Message.self, "Message:34") == .failure(.dangling(path: "Message:34.sender"))
        )
    }

    @Test("An initialiser that swallows damage gets no hit")
    func swallowedDamage() throws {
        struct Lenient: Decodable, IdentifiedModel {
            let sender: Person?
            var modelIdentifier: String? { nil }
            private enum CodingKeys: CodingKey { case sender }
            init(from decoder: any Decoder) throws {
                sender = try? decoder.container(keyedBy: CodingKeys.self).decode(
                    Person.self, forKey: .sender)
            }
        }
        try store.write(Message(sender: ada))
        store.lose("Person:1")
        #expect(throws: MissReason.lost(path: "Message:34")) {
            try store.read(Lenient.self, "Message:34").get()
        }
        store.delete("Person:1")
        #expect(try store.read(Lenient.self, "Message:34").get().sender == nil)
    }

    final class Link: Codable, IdentifiedModel, Sendable {
        let id: Int
        let next: Link?
        let all: [Link]
        var modelIdentifier: String? { "Link:\(id)" }
        init(_ id: Int, _ next: Link? = nil, all: [Link] = []) {
            (self.id, self.next, self.all) = (id, next, all)
        }
    }

    @Test("A back reference is left out of optionals and lists, and the hit says cut")
    func cuts() throws {
        try store.write(Link(1, Link(2)))
        // The later tree makes the records a cycle, which no value can be.
        try store.write(Link(2, Link(1, Link(2)), all: [Link(1), Link(3), Link(2)]))
        try store.write(Link(1, Link(2, Link(1), all: [Link(1), Link(3)])))
        let one = try store.read(Link.self, "Link:1").get()
        #expect(one.next?.id == 2)
        #expect(one.next?.next == nil)
        #expect(one.next?.all.map(\.id) == [3])
    }

    @Test("A back reference in a required field is a cyclic miss")
    func requiredCut() throws {
        struct Needy: Decodable, IdentifiedModel {
            let next: Needier
            var modelIdentifier: String? { nil }
        }
        struct Needier: Decodable, IdentifiedModel {
            let next: Link
            var modelIdentifier: String? { nil }
        }
        try store.write(Link(1, Link(2, Link(1))))
        #expect(throws: MissReason.cyclic(path: "Link:2.next")) {
            try store.read(Needy.self, "Link:1").get()
        }
    }

    @Test("A field may hold an inline value in one write and a reference in the next")
    func inlineOrReference() throws {
        struct Maybe: Codable, Equatable, IdentifiedModel {
            var id: Int?
            var name: String
            var modelIdentifier: String? { id.map { "Maybe:\($0)" } }
        }
        for maybe in [Maybe(id: nil, name: "inline"), Maybe(id: 9, name: "node")] {
            #expect(try store.roundTrip([maybe]) == [maybe])
        }
        #expect(store.bytes(of: "Maybe:9") != nil)
    }

    @Test("A reference is read by a plain Codable type, and by a wrapper with its identifier")
    func otherTypes() throws {
        struct Plain: Codable, Equatable { var name: String }
        struct Wrapper: Codable, Equatable, IdentifiedModel {
            var person: Person
            var modelIdentifier: String? { person.modelIdentifier }
            init(_ person: Person) { self.person = person }
            init(from decoder: any Decoder) throws {
                person = try decoder.singleValueContainer().decode(Person.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(person)
            }
        }
        try store.write(Holder(value: ada))
        #expect(try store.read(Holder<Plain>.self, "Holder").get().value == Plain(name: "Ada"))
        try store.write(Wrapper(bob))
        #expect(store.read(Wrapper.self, "Person:2") == .success(Wrapper(bob)))
        #expect(store.read(Person.self, "Person:2") == .success(bob))
    }
}
