import EspalierModels
import Testing

@Suite("Children are mapped and visited at every depth")
struct MappingTests {
    let a = Pin(1)
    let b = Pin(2)
    let c = Pin(3)

    /// Pin 1 gets a text, pin 2 is deleted, pin 3 becomes a model of another type, and all others
    /// stay.
    func transform(_ model: any Model) -> (any Model)? {
        switch (model as? Pin)?.id {
        case 1: Pin(1, "new")
        case 2: nil
        case 3: Opaque(3)
        default: model
        }
    }

    var new: Pin { Pin(1, "new") }

    func visited(_ body: ((any Model) -> Void) -> Void) -> [String] {
        var identifiers: [String] = []
        body { identifiers.append($0.modelIdentifier ?? "inline") }
        return identifiers
    }

    @Test("A child is replaced, or nil if it is deleted or replaced by another type")
    func child() {
        #expect(ModelMembers.map(a, transform) == new)
        #expect(ModelMembers.map(b, transform) == nil)
        #expect(ModelMembers.map(c, transform) == nil)
        #expect(visited { ModelMembers.forEach(a, $0) } == ["Pin:1"])
    }

    @Test("A deleted optional child becomes nil, and the optional stays")
    func optional() {
        #expect(ModelMembers.map(Optional(a), transform) == .some(.some(new)))
        #expect(ModelMembers.map(Optional(b), transform) == .some(.none))
        #expect(ModelMembers.map(Optional(c), transform) == .some(.none))
        #expect(ModelMembers.map(Pin?.none, transform) == .some(.none))
        #expect(ModelMembers.map(Pin??.some(b), transform) == .some(.some(.none)))
        #expect(visited { ModelMembers.forEach(Optional(a), $0) } == ["Pin:1"])
        #expect(visited { ModelMembers.forEach(Pin?.none, $0) } == [])
    }

    @Test("A deleted element leaves its array, which stays even if it is empty")
    func array() {
        #expect(ModelMembers.map([a, b, c, a], transform) == [new, new])
        #expect(ModelMembers.map([b], transform) == [])
        #expect(ModelMembers.map([a, b, nil], transform) == [new, nil, nil])
        #expect(ModelMembers.map(Optional([b]), transform) == .some([]))
        #expect(visited { ModelMembers.forEach([a, b, a], $0) } == ["Pin:1", "Pin:2", "Pin:1"])
    }

    @Test("Inner arrays stay when their elements are deleted")
    func arrays() {
        #expect(ModelMembers.map([[a, b], [b], []], transform) == [[new], [], []])
        #expect(ModelMembers.map([[[b]], [[a]]], transform) == [[[]], [[new]]])
        #expect(
            visited { ModelMembers.forEach([[a], [b, a]], $0) } == ["Pin:1", "Pin:2", "Pin:1"])
    }

    @Test("A deleted value leaves its dictionary, and the other keys stay")
    func dictionary() {
        #expect(ModelMembers.map(["a": a, "b": b, "c": c], transform) == ["a": new])
        #expect(ModelMembers.map([1: [a, b], 2: [b]], transform) == [1: [new], 2: []])
        let optionals: [String: Pin?] = ["a": a, "b": b]
        #expect(ModelMembers.map(optionals, transform) == ["a": new, "b": nil])
        #expect(visited { ModelMembers.forEach(["a": a], $0) } == ["Pin:1"])
    }

    @Test("A deleted element leaves its set, and elements that become equal collapse")
    func set() {
        #expect(ModelMembers.map(Set([a, b, c]), transform) == [new])
        #expect(ModelMembers.map(Set([a, new, b]), transform) == [new])
        #expect(ModelMembers.map([Set([b])], transform) == [[]])
        #expect(visited { ModelMembers.forEach(Set([a, b]), $0) }.sorted() == ["Pin:1", "Pin:2"])
    }

    @Test("Leaves stay unchanged, and are not visited")
    func leaves() {
        #expect(ModelMembers.map(1, transform) == 1)
        #expect(ModelMembers.map(Int?.none, transform) == .some(.none))
        #expect(ModelMembers.map(["a"], transform) == ["a"])
        #expect(ModelMembers.map([1: "a"], transform) == [1: "a"])
        #expect(visited { ModelMembers.forEach([1], $0) } == [])
    }

    @Test("An existential is a child of its dynamic type, and is wrapped inside containers")
    func existentials() {
        let child: any Model = a
        #expect(ModelMembers.map(child, transform) as? Pin == new)
        #expect(ModelMembers.map(child) { _ in Opaque(1) } == nil)
        #expect(visited { ModelMembers.forEach(child, $0) } == ["Pin:1"])
        let list = [a, b, c].map { ErasedModel<any Model>($0) }
        #expect(
            ModelMembers.map(list, transform)?.map(\.model.modelIdentifier) == [
                "Pin:1", "Opaque:3",
            ])
    }

    @Test("An enum is a child with its payloads as children, and requires some of them")
    func payloads() {
        #expect(visited { ModelMembers.forEach(Badge.pin(a), $0) } == ["inline"])
        #expect(Badge.pair(a, or: b).map { transform($0) } as Badge? == .pair(new, or: nil))
        #expect(Badge.pair(b, or: a).map { transform($0) } as Badge? == nil)
        let deep: (any Model) -> (any Model)? = {
            ($0 as? Badge).map { $0.map(transform) } ?? transform($0)
        }
        #expect(Badge.framed(.pin(a)).map(deep) as Badge? == .framed(.pin(new)))
        #expect(Badge.framed(.pin(b)).map(deep) as Badge? == nil)
        #expect(ModelMembers.map([Badge.pin(a), .pin(b), .none], deep) == [.pin(new), .none])
    }
}

@Suite("Children are found at run time if the compiler does not know their types")
struct DynamicMappingTests {
    struct Box<Value> {
        let value: Value
        func map(_ transform: (any Model) -> (any Model)?) -> Value? {
            ModelMembers.mapDynamically(value, transform)
        }
        func mapStatically(_ transform: (any Model) -> (any Model)?) -> Value? {
            ModelMembers.map(value, transform)
        }
        var children: Int {
            var count = 0
            ModelMembers.forEachDynamically(value) { _ in count += 1 }
            return count
        }
    }

    let a = Pin(1)
    let b = Pin(2)
    var new: Pin { Pin(1, "new") }
    func transform(_ model: any Model) -> (any Model)? { (model as? Pin)?.id == 1 ? new : nil }

    @Test("Children of unknown types are deleted as those of known types")
    func mapping() {
        #expect(Box(value: a).map(transform) == new)
        #expect(Box(value: b).map(transform) == nil)
        #expect(Box(value: Optional(a)).map(transform) == .some(.some(new)))
        #expect(Box(value: Optional(b)).map(transform) == .some(.none))
        #expect(Box(value: Pin?.none).map(transform) == .some(.none))
        #expect(Box(value: Pin??.some(.none)).map(transform) == .some(.some(.none)))
        #expect(Box(value: [a, b]).map(transform) == [new])
        #expect(Box(value: [b]).map(transform) == [])
        #expect(Box(value: [Pin]()).map(transform) == [])
        #expect(Box(value: [[a], [b]]).map(transform) == [[new], []])
        #expect(Box(value: ["a": a, "b": b]).map(transform) == ["a": new])
        #expect(Box(value: Set([a, b])).map(transform) == [new])
        #expect(Box(value: [a, nil, b]).map(transform) == [new, nil, nil])
        #expect(Box(value: 1).map(transform) == 1)
        #expect(Box(value: Int?.none).map(transform) == .some(.none))
        #expect(Box(value: [1]).map(transform) == [1])
        #expect(
            Box(value: [b, a] as [any Model]).map(transform)?.count == 2,
            "an existential in a container is none")
        #expect(Box(value: a as any Model).map(transform) as? Pin == new)
    }

    @Test("Children of unknown types are visited as often as those of known types")
    func visiting() {
        #expect(Box(value: a).children == 1)
        #expect(Box(value: Optional(a)).children == 1)
        #expect(Box(value: Pin?.none).children == 0)
        #expect(Box(value: [[a], [b, a]]).children == 3)
        #expect(Box(value: ["a": a]).children == 1)
        #expect(Box(value: "a").children == 0)
    }

    @Test("Without the dynamic variant, a member of a generic type counts as a leaf")
    func statically() {
        #expect(Box(value: b).mapStatically(transform) == b)
    }
}
