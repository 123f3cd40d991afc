#if Macros
import Espalier
import Foundation
import Testing

@Suite("Generated models as values")
struct ValueTests {
    private let person = Person(id: 1, name: "Ann")

    @Test("A copy differs only in the changed properties")
    func copying() {
        let caption = Caption(text: "a", by: person)
        let changed = caption.copy {
            $0.text = "b"
            $0.by.name = "Bea"
        }
        #expect(changed == Caption(text: "b", by: Person(id: 1, name: "Bea")))
        #expect(caption == Caption(text: "a", by: person))
        var builder = Tree.Builder(Tree(id: 1, person: person))
        builder.children = [Tree(id: 2, person: nil)]
        #expect(
            builder.build() == Tree(id: 1, person: person, children: [Tree(id: 2, person: nil)]))
        #expect(Tree(builder) == builder.build())
        let awkward = Awkward.sample(person)
        #expect(awkward.copy { $0.build = person }.build == person)
    }

    @Test("`copy` rethrows the error of the change")
    func throwing() {
        struct Refused: Error {}
        #expect(throws: Refused.self) { try person.copy { _ in throw Refused() } }
    }

    @Test("Models compare every property, and equal models hash alike")
    func comparing() {
        let base = Nestings(id: "n", required: person, anyModel: person, payload: .link("l"))
        let other = Person(id: 2, name: "Bea")
        let changes: [(inout Nestings.Builder) -> Void] = [
            { $0.id = "m" }, { $0.required = other }, { $0.optional = other },
            { $0.array = [other] },
            { $0.set = [other] }, { $0.dictionary = ["a": other] }, { $0.arrays = [[other]] },
            { $0.deep = [:] },
            { $0.inline = Caption(text: "", by: other) }, { $0.anyModel = other },
            { $0.anyOptional = other },
            { $0.anyArray = [other] }, { $0.anyDictionary = ["a": nil] },
            { $0.payload = .link("m") },
        ]
        #expect(base == base.copy { _ in })
        #expect(base.hashValue == base.copy { _ in }.hashValue)
        let versions = changes.map { base.copy($0) }
        for version in versions { #expect(version != base) }
        #expect(Set(versions + [base] + versions).count == changes.count + 1)
        #expect(base.isEqual(to: base.copy { _ in } as any Model))
        #expect(!base.isEqual(to: person as any Model))
    }

    @Test("Enums compare the case and every associated value")
    func cases() {
        let cases: [Attachment] = [
            .link("l"), .link("m"), .card(title: "t", person), .card(title: "t", person, width: 1),
            .card(title: "u", person), .album([], cover: nil), .album([person], cover: nil),
            .wrapped(.none), .none,
            .any(person, []), .any(Caption(text: "", by: person), []),
        ]
        #expect(Set(cases + cases).count == cases.count)
        for (a, b) in zip(cases, cases.dropFirst()) { #expect(a != b) }
    }

    @Test("A == that the type defines is used everywhere")
    func ownEquality() {
        func areSame<Value: Hashable>(_ values: Value...) -> Bool {
            Set(values).count == 1 && values[0] == values[1]
        }
        #expect(areSame(Loosely(id: 1, count: 1), Loosely(id: 1, count: 2)))
        #expect(!areSame(Loosely(id: 1, count: 1), Loosely(id: 2, count: 1)))
        #expect(Loosely(id: 1, count: 1) == Loosely(id: 1, count: 2))
        #expect(areSame(LooselyNamed(id: 1, name: "Ann"), LooselyNamed(id: 2, name: "Ann")))
        #expect(areSame(LooselyShared(id: 1, count: 1), LooselyShared(id: 1, count: 2)))
        #expect(!areSame(LooselyShared(id: 1, count: 1), LooselyShared(id: 2, count: 1)))
        #expect(areSame(LooselyCased.counted(id: 1, count: 1), .counted(id: 1, count: 2)))
        #expect(!areSame(LooselyCased.counted(id: 1, count: 1), .counted(id: 2, count: 2)))
        #expect(Loosely(id: 1, count: 1).isEqual(to: Loosely(id: 1, count: 2) as any Model))
    }

    @Test("A == with another type does not replace the generated one")
    func otherEquality() {
        #expect(Money(amount: 1) == 1)
        #expect(Money(amount: 1) == Money(amount: 1))
        #expect(Money(amount: 1) != Money(amount: 2))
        #expect(Set([Money(amount: 1), Money(amount: 1), Money(amount: 2)]).count == 2)
    }

    @Test("Merging a projection copies fields by stored name, merging the same type replaces")
    func merging() {
        let renamed = Renamed(id: 1, name: "Ann")
        let brief = Brief(id: 1, name: "Bea", likes: 3, labels: ["x"], mood: .good, point: .init())
        #expect(renamed.merge(brief) as? Renamed == Renamed(id: 1, name: "Bea"))
        #expect(brief.merge(renamed) as? Brief == brief.copy { $0.name = "Ann" })
        #expect(
            renamed.merge(Renamed(id: 1, name: "Cid")) as? Renamed == Renamed(id: 1, name: "Cid"))
        #expect(renamed.merge(Attachment.none) as? Renamed == renamed)
        #expect(renamed.storedValue("display_name") as? String == "Ann")
        #expect(renamed.storedValue("name") == nil)
        #expect(Tree(id: 1, person: nil).storedValue("person") != nil)
    }
}
#endif
