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

    @Test("A plan is made once for each type, and the first straight one needs no look-up")
    func kept() {
        let plans = SlotPlans()
        var made = 0
        func plan(_ type: Any.Type, _ fields: [String]) -> SlotPlan {
            plans.plan(
                for: ObjectIdentifier(type),
                {
                    made += 1
                    return fields
                }, in: shape)
        }
        let own = ["a", "\u{E9}", "c"]
        for _ in 0..<3 {
            #expect(plan(String.self, ["c", "x"]).slots == [2, -1])
            #expect(plan(Int.self, own).isStraight)
            #expect(plan(Bool.self, own).isStraight)
            #expect(plan(Double.self, []).slots == [])
        }
        #expect(made == 4)
        #expect(plans.straightNames(of: ObjectIdentifier(Int.self)) != nil)
        #expect(plans.straightNames(of: ObjectIdentifier(Bool.self)) == nil)
        #expect(plans.straightNames(of: ObjectIdentifier(String.self)) == nil)
    }

    @Test("Names are identical only to themselves, short or long, and to none past the end")
    func identical() {
        let long = "a name of more than fifteen bytes"
        let names = FieldNames(["a", "\u{E9}", long, ""])
        for (index, name) in names.strings.enumerated() {
            #expect(names.lent.isIdentical(at: index, to: name))
            #expect(!names.lent.isIdentical(at: index, to: name + "x"))
            #expect(!names.lent.isIdentical(at: (index + 1) % 4, to: name))
            #expect(!names.lent.isIdentical(at: 4, to: name))
            #expect(!names.lent.isIdentical(at: 4, to: ""))
        }
        #expect(!names.lent.isIdentical(at: 1, to: "e\u{301}"))
        #expect(!FieldNames.Lent.none.isIdentical(at: 0, to: "a"))
    }

    @Test("The list of a type's encoder says nothing of the list of its decoder")
    func apart() throws {
        var sheet = Sheet([.text, .number, .flag])
        sheet.expected = [.text, .number, .flag]
        let shape = try DictionaryRecordSource.flatten(sheet).shape(at: 0)
        let type = ObjectIdentifier(NoFields.type(of: [.text, .number, .flag]))
        #expect(shape.plans.straightNames(of: type) == nil)
        #expect(shape.plans.plan(for: type, { ["flag", "text"] }, in: shape).slots == [2, 0])
        #expect(shape.plans.straightNames(of: type) == nil)
    }
}
