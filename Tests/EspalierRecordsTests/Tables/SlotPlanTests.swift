import EspalierTestSupport
import Testing

@testable import EspalierRecords

@Suite("Slots of fields in the records of a shape")
struct SlotPlanTests {
    private let shape = Shape(type: "T", fields: ["a", "\u{E9}", "c"])

    @Test(
        "A plan has the slots in the type's order, and only the shape's own list is straight",
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

    @Test("The list of no fields is straight only in a shape that has none")
    func none() {
        #expect(SlotPlan([], in: .none).isStraight)
        #expect(!SlotPlan(["a"], in: .none).isStraight)
    }

    @Test(
        "A plan is made once for each type, and is nil for every type with the shape's own fields")
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

    @Test("The list of a type's encoder says nothing of the list of its decoder")
    func apart() throws {
        var sheet = Sheet([.text, .number, .flag])
        sheet.expected = [.text, .number, .flag]
        let shape = try DictionaryRecordSource.flatten(sheet).shape(at: 0)
        let type = ObjectIdentifier(NoFields.type(of: [.text, .number, .flag]))
        #expect(!shape.plans.isStraight(type))
        #expect(shape.plans.plan(for: type, { ["flag", "text"] }, in: shape)?.slots == [2, 0])
        #expect(!shape.plans.isStraight(type))
    }
}
