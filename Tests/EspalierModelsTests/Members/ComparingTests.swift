import EspalierModels
import EspalierRecords
import Testing

@Suite("Members of every type are compared and hashed")
struct ComparingTests {
    /// Neither `Equatable` nor a model.
    struct Plain { let number: Int }
    final class Object {}

    /// Compares without any constraint that the compiler could use.
    func areEqualAtRunTime<Value>(_ a: Value, _ b: Value) -> Bool { ModelMembers.areEqual(a, b) }

    func hash(_ body: (inout Hasher) -> Void) -> Int {
        var hasher = Hasher()
        body(&hasher)
        return hasher.finalize()
    }

    @Test("A field differs from every value of another type")
    func otherTypes() {
        let pin = Pin(1, "a")
        #expect(pin.isEqualField(to: pin) && [pin].isEqualField(to: [pin]))
        #expect(Optional(pin).isEqualField(to: Optional(pin)))
        #expect(["k": pin].isEqualField(to: ["k": pin]) && Set([pin]).isEqualField(to: Set([pin])))
        #expect(!pin.isEqualField(to: 1) && !pin.isEqualField(to: [pin]))
        #expect(![pin].isEqualField(to: pin) && ![pin].isEqualField(to: [1]))
        #expect(!["k": pin].isEqualField(to: [pin]) && !Set([pin]).isEqualField(to: [pin]))
        #expect(!Optional(pin).isEqualField(to: "a") && !Pin?.none.isEqualField(to: pin))
    }

    @Test("Members that are Equatable, also models, are compared by ==")
    func equatable() {
        #expect(ModelMembers.areEqual(1, 1))
        #expect(!ModelMembers.areEqual("a", "b"))
        #expect(ModelMembers.areEqual(Pin(1, "a"), Pin(1, "a")))
        #expect(!ModelMembers.areEqual(Pin(1, "a"), Pin(1, "b")))
        #expect(ModelMembers.areEqual([Pin(1)], [Pin(1)]))
        #expect(!ModelMembers.areEqual(Optional(Pin(1)), nil))
        #expect(ModelMembers.areEqual(["a": [Pin(1)]], ["a": [Pin(1)]]))
        #expect(!ModelMembers.areEqual(Set([Pin(1)]), Set([Pin(2)])))
    }

    @Test("Models that are not Equatable are compared by isEqual at every depth")
    func models() {
        let (a, same, b) = (Opaque(1), Opaque(1), Opaque(2))
        #expect(ModelMembers.areEqual(a, same))
        #expect(!ModelMembers.areEqual(a, b))
        #expect(ModelMembers.areEqual(Optional(a), same))
        #expect(!ModelMembers.areEqual(Optional(a), nil))
        #expect(ModelMembers.areEqual(Opaque?.none, nil))
        #expect(ModelMembers.areEqual([a, b], [same, b]))
        #expect(!ModelMembers.areEqual([a, b], [b, a]))
        #expect(!ModelMembers.areEqual([a], [a, b]))
        #expect(ModelMembers.areEqual([[a], []], [[same], []]))
        #expect(ModelMembers.areEqual(["x": a, "y": b], ["y": b, "x": same]))
        #expect(!ModelMembers.areEqual(["x": a], ["y": a]))
        #expect(!ModelMembers.areEqual(["x": a], ["x": a, "y": b]))
        #expect(ModelMembers.areEqual([a, nil], [same, nil]))
        #expect(ModelMembers.areEqual(Field.value(a), .value(same)))
        #expect(!ModelMembers.areEqual(Field.value(a), .value(b)))
        #expect(ModelMembers.areEqual(Field<Opaque>.null, .null))
        #expect(!ModelMembers.areEqual(Field<Opaque>.null, .absent))
        #expect(!ModelMembers.areEqual(Field.value(a), .absent))
    }

    @Test("Members of types that the compiler does not know are compared at run time")
    func atRunTime() {
        #expect(areEqualAtRunTime(1, 1))
        #expect(!areEqualAtRunTime(1, 2))
        #expect(areEqualAtRunTime(Int?.none, nil))
        #expect(!areEqualAtRunTime(Int?.none, 1))
        #expect(areEqualAtRunTime([Pin(1)], [Pin(1)]))
        #expect(areEqualAtRunTime(Opaque(1), Opaque(1)))
        #expect(!areEqualAtRunTime([Opaque(1)], [Opaque(2)]))
        #expect(areEqualAtRunTime(Opaque?.none, nil))
        #expect(!areEqualAtRunTime(Opaque?.none, Opaque(1)))
        #expect(areEqualAtRunTime(Pin(1) as any Model, Pin(1) as any Model))
        #expect(!areEqualAtRunTime(Pin(1) as any Model, Opaque(1) as any Model))
        #expect(areEqualAtRunTime((Pin(1) as any Model) as (any Model)?, Pin(1)))
        #expect(
            areEqualAtRunTime(
                [Pin(1), Opaque(1)] as [any Model], [Pin(1), Opaque(1)] as [any Model]))
    }

    @Test("Incomparable values differ, and objects are compared by identity")
    func incomparable() {
        let object = Object()
        #expect(ModelMembers.areEqual(object, object))
        #expect(!ModelMembers.areEqual(object, Object()))
        #expect(!ModelMembers.areEqual(Plain(number: 1), Plain(number: 1)))
        #expect(ModelMembers.areEqual(Plain?.none, nil))
        #expect(!ModelMembers.areEqual(Plain?.none, Plain(number: 1)))
        #expect(ModelMembers.areEqual([Plain](), []))
        #expect(ModelMembers.areEqual([object], [object]))
        #expect(!ModelMembers.areEqual({ 1 }, { 1 }))
    }

    @Test("Members that are Hashable are hashed, and others add nothing")
    func hashing() {
        #expect(hash { ModelMembers.hash(Pin(1), into: &$0) } == hash { $0.combine(Pin(1)) })
        #expect(hash { ModelMembers.hash([1: "a"], into: &$0) } == hash { $0.combine([1: "a"]) })
        #expect(hash { ModelMembers.hash(Plain(number: 1), into: &$0) } == hash { _ in })
        #expect(hash { ModelMembers.hash(Opaque(1), into: &$0) } == hash { _ in })
        #expect(hash { ModelMembers.hash([Opaque(1)], into: &$0) } == hash { _ in })
    }

    @Test("An erased model is compared and hashed with its type")
    func erased() {
        let pin = ErasedModel<any Model>(Pin(1))
        #expect(ModelMembers.areEqual(pin, ErasedModel(Pin(1))))
        #expect(!ModelMembers.areEqual(pin, ErasedModel(Pin(2))))
        #expect(!ModelMembers.areEqual(pin, ErasedModel(Opaque(1))))
        let (opaque, other) = (ErasedModel<any Model>(Opaque(1)), ErasedModel<any Model>(Opaque(2)))
        #expect(ModelMembers.areEqual([opaque], [ErasedModel<any Model>(Opaque(1))]))
        #expect(!ModelMembers.areEqual(opaque, other))
        let all: Set<ErasedModel<any Model>> = [
            pin, ErasedModel(Pin(1)), ErasedModel(Framed(Pin(1))), ErasedModel(Opaque(1)),
        ]
        #expect(all.count == 3)
        let simple = ErasedModel<any SimpleModel>(SmallestSimpleModel())
        #expect(simple == ErasedModel<any SimpleModel>(SmallestSimpleModel()))
    }
}
