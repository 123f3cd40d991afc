import Testing

@testable import EspalierRecords

@Suite("Where the fields of types stand in records of one shape")
struct SlotPlanTests {
    private let shape = Shape(type: "T", fields: ["a", "\u{E9}", "c"])

    @Test(
        "each field's slot, in the type's order; only the shape's own list is straight",
        arguments: [
            ([], []), (["a", "\u{E9}", "c"], [0, 1, 2]), (["a", "\u{E9}"], [0, 1]),
            (["c", "a"], [2, 0]),
            (["x", "c"], [-1, 2]), (["a", "e\u{301}", "c"], [0, -1, 2]),
            (["a", "\u{E9}", "c", "x"], [0, 1, 2, -1]),
            (["a", "a", "a"], [0, 0, 0]), (["\u{E9}", "a", "c"], [1, 0, 2]),
        ] as [([String], [Int])])
    func slots(fields: [String], slots: [Int]) {
        let plan = SlotPlan(fields, in: shape)
        #expect(plan.slots == slots)
        #expect(plan.isStraight == (slots == [0, 1, 2]))
    }

    @Test("the list of no fields is the list of a shape that has none")
    func none() {
        #expect(SlotPlan([], in: .none).isStraight)
        #expect(!SlotPlan(["a"], in: .none).isStraight)
    }

    @Test(
        "a type's plan is made once; that of several types whose fields are the shape's is nil for each"
    )
    func kept() {
        let plans = SlotPlans()
        var made = 0
        func plan(_ type: Any.Type, _ fields: [String]) -> SlotPlan? {
            plans.plan(
                for: ObjectIdentifier(type),
                {
                    made += 1
                    return fields
                }, in: shape)
        }
        let own = ["a", "\u{E9}", "c"]
        for _ in 0..<3 {
            #expect(plan(String.self, ["c", "x"])?.slots == [2, -1])
            if !plans.isStraight(ObjectIdentifier(Int.self)) { #expect(plan(Int.self, own) == nil) }
            #expect(plan(Bool.self, own) == nil)
            #expect(plan(Double.self, [])?.slots == [])
        }
        #expect(made == 4)
        #expect(plans.isStraight(ObjectIdentifier(Int.self)))
        #expect(!plans.isStraight(ObjectIdentifier(Bool.self)))
        #expect(!plans.isStraight(ObjectIdentifier(String.self)))
    }

    @Test("what decoders expect of a shape says nothing of what encoders do")
    func apart() {
        let type = ObjectIdentifier(Leaf.self)
        #expect(shape.reading.plan(for: type, { ["c", "a"] }, in: shape)?.slots == [2, 0])
        #expect(shape.writing.plan(for: type, { ["a", "\u{E9}", "c"] }, in: shape) == nil)
        #expect(shape.writing.isStraight(type))
        #expect(!shape.reading.isStraight(type))
    }
}
