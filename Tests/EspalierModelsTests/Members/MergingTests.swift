import EspalierModels
import EspalierRecords
import Testing

@Suite("Merges of projections")
struct MergingTests {
    /// Another projection, whose values a test sets.
    struct Other: ProjectedModel {
        let modelIdentifier: String? = nil
        let name: String
        // A closure, because closures are `Sendable` where the values in them cannot be proved to
        // be.
        let value: @Sendable () -> Any?
        init(_ name: String = "x", _ value: @escaping @Sendable () -> Any?) {
            (self.name, self.value) = (name, value)
        }
        func storedValue(_ name: String) -> Any? { name == self.name ? value() : nil }
        func isEqual(to model: any Model) -> Bool { false }
        func map(_ transform: (any Model) -> (any Model)?) -> Other? { self }
        func forEach(_ visit: (any Model) -> Void) {}
    }

    func taken<Value>(_ mine: Value, _ theirs: @escaping @Sendable () -> Any?) -> Value {
        var value = mine
        ModelMembers.take(&value, named: "x", from: Other("x", theirs))
        return value
    }

    static let ada = FullPerson(id: 1, name: "Ada", city: "Rome")
    static let bob = FullPerson(id: 2, name: "Bob", city: "Oslo")
    static let newAda = FullPerson(id: 1, name: "new", city: "Rome")
    static let newBob = FullPerson(id: 2, name: "B", city: "Oslo")
    static let shortAda = ShortPerson(id: 1, name: "new")
    static let shortBob = ShortPerson(id: 2, name: "B")
    static let shortCid = ShortPerson(id: 3, name: "C")

    @Test("A projection takes a value of the member's type, also between T and T?")
    func values() {
        #expect(taken(1) { 2 } == 2)
        #expect(taken(Optional(1)) { 2 } == 2)
        #expect(taken(Optional(1)) { .some(Int?.none as Any) } == nil)
        #expect(taken(1) { Optional(2) as Any } == 2)
        #expect(taken(["a"]) { [String]() } == [])
    }

    @Test("A field takes fields and optionals: absent changes nothing, null and values do")
    func fields() {
        #expect(taken(Field.value(1)) { Field<Int>.value(2) } == .value(2))
        #expect(taken(Field.value(1)) { Field<Int>.null } == .null)
        #expect(taken(Field.value(1)) { Field<Int>.absent } == .value(1))
        #expect(taken(Field<Int>.absent) { 2 } == .value(2))
        #expect(taken(Field.value(1)) { .some(Int?.none as Any) } == .null)
        #expect(taken(Field.value(1)) { .some(String?.none as Any) } == .value(1))
        #expect(taken(Field.value(1)) { "a" } == .value(1))
        #expect(taken(Optional(1)) { Field<Int>.value(2) } == 2)
        #expect(taken(Optional(1)) { Field<Int>.null } == nil)
        #expect(taken(Optional(1)) { Field<Int>.absent } == 1)
        #expect(taken(1) { Field<Int>.null } == 1)
        #expect(taken(Field.value(Self.ada)) { Self.shortAda } == .value(Self.newAda))
        #expect(taken(Field.value(Self.ada)) { Field.value(Self.shortBob) } == .value(Self.ada))
        #expect(taken(Field<FullPerson>.null) { Self.shortAda } == .null)
    }

    @Test("A foreign nil, another type or an unknown name leaves the member unchanged")
    func otherValues() {
        #expect(taken(1) { .some(Int?.none as Any) } == 1)
        #expect(taken(1) { "a" } == 1)
        #expect(taken(Optional(1)) { nil } == 1)
        #expect(taken(Optional(1)) { .some(String?.none as Any) } == 1)
        #expect(taken(Optional(Optional(1))) { .some(String??.none as Any) } == 1)
        #expect(taken(Optional(1)) { .some(Int??.none as Any) } == nil)
        #expect(taken(Optional(Self.ada)) { .some(String?.none as Any) } == Self.ada)
        #expect(taken(Optional(["a"])) { .some([FullPerson]?.none as Any) } == ["a"])
        #expect(taken(Pin(1) as (any Model)?) { .some(String?.none as Any) } as? Pin == Pin(1))
        #expect(taken(Pin(1) as (any Model)?) { .some((any Model)?.none as Any) } == nil)
        var value = 1
        ModelMembers.take(&value, named: "y", from: Other { 2 })
        #expect(value == 1)
    }

    @Test("A projection takes a child of the same type, whatever its identifier")
    func sameType() {
        #expect(taken(Self.ada) { Self.bob } == Self.bob)
        #expect(taken(Optional(Self.ada)) { .some(FullPerson?.none as Any) } == nil)
    }

    @Test("A child of another type is merged if it has the same identifier")
    func children() {
        #expect(taken(Self.ada) { Self.shortAda } == Self.newAda)
        #expect(taken(Self.ada) { Self.shortBob } == Self.ada)
        #expect(taken(Self.shortAda) { Self.ada } == ShortPerson(id: 1, name: "Ada"))
        #expect(taken(Optional(Self.ada)) { Self.shortAda } == Self.newAda)
        #expect(taken(Self.ada) { Optional(Self.shortAda) as Any } == Self.newAda)
        #expect(taken(FullPerson?.none) { Self.shortAda } == nil)
        #expect(taken(Optional(Self.ada)) { .some(ShortPerson?.none as Any) } == nil)
    }

    @Test("A list is merged in the other one's order if it has no unknown elements")
    func lists() {
        let mine = [Self.ada, Self.bob]
        #expect(taken(mine) { [Self.shortAda, Self.shortBob] } == [Self.newAda, Self.newBob])
        #expect(taken(mine) { [Self.shortBob, Self.shortAda] } == [Self.newBob, Self.newAda])
        #expect(taken(mine) { [Self.shortBob] } == [Self.newBob])
        #expect(taken(mine) { [Self.shortBob, Self.shortCid] } == mine)
        #expect(taken(mine) { [ShortPerson]() } == [])
        #expect(taken(Optional(mine)) { [Self.shortBob] } == [Self.newBob])
        #expect(taken([mine, []]) { [[Self.shortBob], []] } == [[Self.newBob], []])
        #expect(taken([mine]) { [[Self.shortBob], []] } == [mine])
        let optionals: [FullPerson?] = [Self.ada, nil]
        #expect(taken(optionals) { [nil, Self.shortAda] as [ShortPerson?] } == [nil, Self.newAda])
    }

    @Test("Dictionaries and sets are merged if they have no unknown elements")
    func tables() {
        let mine = ["a": Self.ada, "b": Self.bob]
        #expect(
            taken(mine) { ["a": Self.shortAda, "b": Self.shortBob] } == [
                "a": Self.newAda, "b": Self.newBob,
            ])
        #expect(taken(mine) { ["b": Self.shortBob] } == ["b": Self.newBob])
        #expect(taken(mine) { ["c": Self.shortBob] } == mine)
        #expect(taken(mine) { ["a": Self.shortBob] } == mine)
        let pins: Set = [Pin(1), Pin(2)]
        #expect(taken(pins) { Set([Pin(1, "a")]) } == [Pin(1, "a")])
        #expect(taken(pins) { Set([Framed(Pin(1))]) } == pins)
    }

    @Test("Inline models of two types are not merged")
    func inline() {
        #expect(taken(Badge.none) { CodablePin() } == .none)
        #expect(taken(Badge.none) { Badge.pin(Pin(1)) } == .pin(Pin(1)))
        #expect(taken([CodablePin()]) { [Badge.none] } == [CodablePin()])
    }

    @Test("A member that is an existential takes any model that conforms")
    func existentials() {
        #expect(taken(Pin(1) as any Model) { Pin(2) } as? Pin == Pin(2))
        #expect(taken(Pin(1) as any Pinnable) { Opaque(2) } as? Pin == Pin(1))
        #expect(taken([Pin(1)] as [any Model]) { [Pin(2)] } as? [Pin] == [Pin(2)])
    }
}
