#if Macros
import Espalier
import Testing

@Suite("map and forEach of generated models")
struct MappingTests {
    private static func person(_ id: Int) -> Person { Person(id: id, name: "\(id)") }

    private let nestings = Nestings(
        id: "n", required: person(1), optional: person(2), array: [person(3), person(4)],
        set: [person(5)],
        dictionary: ["a": person(6)], arrays: [[person(7), nil], [person(8)]],
        deep: ["b": [person(9)], "c": nil],
        inline: Caption(text: "", by: person(10)), anyModel: person(11), anyOptional: person(12),
        anyArray: [person(13), Caption(text: "", by: person(14))],
        anyDictionary: ["d": [person(15)], "e": nil],
        payload: .wrapped(.any(person(16), [person(17)])))

    /// Returns the ids of all people below `model`. Inline models and enums are children too, whose
    /// children this function visits.
    private func people(in model: some Model) -> [Int] {
        var found: [Int] = []
        func visit(_ child: any Model) {
            if let person = child as? Person {
                found.append(person.id)
            } else {
                child.forEach(visit)
            }
        }
        model.forEach(visit)
        return found.sorted()
    }

    /// Applies `change` to every person below `model`, at any depth.
    private func mapping<M: Model>(_ model: M, _ change: (Person) -> Person?) -> M? {
        withoutActuallyEscaping(change) { change in
            func transform(_ child: any Model) -> (any Model)? {
                if let person = child as? Person { return change(person) }
                return open(child)
            }
            func open<C: Model>(_ child: C) -> (any Model)? { child.map(transform) }
            return model.map(transform)
        }
    }

    @Test("`forEach` visits every child once")
    func visiting() { #expect(people(in: nestings) == Array(1...17)) }

    @Test("`map` replaces every child in its place")
    func replacing() throws {
        let mapped = try #require(mapping(nestings) { $0.copy { $0.name = "new" } })
        #expect(people(in: mapped) == Array(1...17))
        var names: Set<String> = []
        func visit(_ child: any Model) {
            if let person = child as? Person {
                names.insert(person.name)
            } else {
                child.forEach(visit)
            }
        }
        mapped.forEach(visit)
        #expect(names == ["new"])
        #expect(mapped.arrays.map(\.count) == [2, 1])
        #expect(mapped.arrays[0][1] == nil)
        #expect(mapped.deep?.keys.sorted() == ["b", "c"])
        #expect(mapped.kind == "nestings")
        #expect(mapping(nestings) { $0 } == nestings)
    }

    @Test(
        "Deleting a child removes the element or entry, and a required child its model",
        arguments: 1...17)
    func deleting(id: Int) {
        let mapped = mapping(nestings) { $0.id == id ? nil : $0 }
        if [1, 11, 16].contains(id) {
            #expect(mapped == nil)
        } else if id == 14 {
            // The caption is an element, and goes with its person.
            #expect(mapped?.anyArray.count == 1)
            #expect(people(in: mapped!) == (1...17).filter { $0 != id })
        } else {
            #expect(people(in: mapped!) == (1...17).filter { $0 != id })
        }
    }

    @Test("Deleting a required associated value deletes the enum, an optional one becomes nil")
    func cases() {
        let people = [Self.person(1), Self.person(2)]
        func without(_ id: Int, _ attachment: Attachment) -> Attachment? {
            mapping(attachment) { $0.id == id ? nil : $0 }
        }
        #expect(without(1, .card(title: "t", people[0], width: 3)) == nil)
        #expect(
            without(2, .card(title: "t", people[0], width: 3))
                == .card(title: "t", people[0], width: 3))
        #expect(without(1, .album(people, cover: people[0])) == .album([people[1]], cover: nil))
        #expect(without(1, .wrapped(.wrapped(.link("x")))) == .wrapped(.wrapped(.link("x"))))
        #expect(without(1, .none) == .some(.none))
    }

    @Test("Children of generic models are found by constraint or at run time")
    func generic() {
        let people = [Self.person(1), Self.person(2)]
        let page = Page(id: 1, items: people, first: people[0])
        #expect(self.people(in: page) == [1, 1, 2])
        #expect(mapping(page) { $0.id == 1 ? nil : $0 }?.items == [people[1]])
        let loose = Loose(id: 1, items: people)
        #expect(self.people(in: loose) == [1, 2])
        #expect(mapping(loose) { $0.id == 1 ? nil : $0 }?.items == [people[1]])
        #expect(self.people(in: Loose(id: 1, items: [1, 2])) == [])
    }

    @Test("Children are found that the syntax hides behind extensions, associated types or aliases")
    func hidden() {
        let people = [Self.person(1), Self.person(2)]
        func expect<M: Model & Equatable>(_ model: M, without: M) {
            #expect(self.people(in: model) == [1, 2])
            #expect(mapping(model) { $0.id == 1 ? nil : $0 } == without)
        }
        expect(
            Shelf<Person>.Row(items: people, cover: nil),
            without: Shelf<Person>.Row(items: [people[1]], cover: nil))
        expect(
            Shelf<Person>.Inner.Cell(items: people),
            without: Shelf<Person>.Inner.Cell(items: [people[1]]))
        expect(Shelf<Person>.Slot.several(people), without: Shelf<Person>.Slot.several([people[1]]))
        expect(
            SectionPage<PeopleSection>(items: people),
            without: SectionPage<PeopleSection>(items: [people[1]]))
        expect(
            ConstrainedPage<PeopleSection>(items: people),
            without: ConstrainedPage<PeopleSection>(items: [people[1]]))
        expect(Other.Page(items: people), without: Other.Page(items: [people[1]]))
        #expect(self.people(in: SectionPage<NumberSection>(items: [1])) == [])
    }

    @Test("`map` returns a new instance of a class")
    func classes() {
        let tree = Tree(id: 1, person: Self.person(1), children: [Tree(id: 2, person: nil)])
        #expect(people(in: tree) == [1])
        #expect(
            mapping(tree) { _ in nil }
                == Tree(id: 1, person: nil, children: [Tree(id: 2, person: nil)]))
    }
}
#endif
