import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Models with many different fields")
struct ShapeLimitTests {
    @Test("With 10,000 sets of keys, records past the limits of shapes contain their field names")
    func manyShapes() throws {
        try withCache { cache in
            for number in 0..<10_000 {
                let ticket = cache.set(
                    Bag("b:\(number)", ["key \(number)": "value", "n": "\(number)"]))
                // In small steps, because the queue is bounded.
                if number % 1_000 == 999 { try ticket.wait() }
            }
            for number in stride(from: 0, to: 10_000, by: 37) {
                #expect(
                    cache.read(Bag.self, "b:\(number)")?.fields == [
                        "key \(number)": "value", "n": "\(number)",
                    ])
            }
            let statistics = try cache.statistics()
            #expect(statistics.nodes == 10_000)
            #expect(statistics.shapes == ShapeTable.maximumShapesOfType)
        }
    }

    @Test("Shapes are removed with their last record, and their numbers are not assigned again")
    func droppedShapes() throws {
        try withCache { cache in
            for round in 0..<3 {
                for number in 0..<200 {
                    cache.set(Bag("b:\(number)", ["round \(round) \(number)": "value"]))
                }
                try cache.set(Person("p:1", "Anna")).wait()
            }
            #expect(try cache.statistics().shapes <= ShapeTable.maximumShapesOfType + 1)
            for number in 0..<200 { cache.delete("b:\(number)") }
            try cache.delete("p:1").wait()
            #expect(try cache.statistics().shapes == 0)
            try cache.set(Person("p:1", "Anna")).wait()
            let handle = try #require(try cache.handle("p:1"))
            #expect((try cache.record(handle)?.shapeNumber ?? 0) > 64)
        }
    }

    @Test("The shapes of many types at once stay bounded")
    func manyTypes() throws {
        try withCache { cache in
            let count = ShapeTable.maximumShapes + 100
            for number in 0..<count { cache.set(Costume("c:\(number)", type: "Type \(number)")) }
            #expect(cache.read(Costume.self, "c:\(count - 1)")?.id == "c:\(count - 1)")
            let statistics = try cache.statistics()
            #expect(statistics.shapes == ShapeTable.maximumShapes)
            for number in 0..<count {
                cache.set(Costume("c:0", type: "Type \(number)"), policy: .merge)
            }
            #expect(cache.read(Costume.self, "c:0")?.id == "c:0")
        }
    }

    @Test("A record of more than 64 types drops the types that wrote it first")
    func manyProjections() throws {
        try withCache { cache in
            for number in 0..<100 { cache.set(Costume("c:1", type: "Type \(number)")) }
            #expect(cache.read(Costume.self, "c:1")?.id == "c:1")
            let handle = try #require(try cache.handle("c:1"))
            #expect(try cache.record(handle)?.shape.types.count == Shape.maximumTypes)
        }
    }
}
