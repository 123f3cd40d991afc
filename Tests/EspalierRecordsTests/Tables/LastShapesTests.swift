import Testing

@testable import EspalierRecords

@Suite("The last shape of each type")
struct LastShapesTests {
    @Test(
        "Each type keeps its position and its last shape, however many types there are",
        arguments: [1, 15, 16, 17, 18, 200])
    func places(count: Int) {
        var shapes = LastShapes()
        let types = (0..<count).map { "Type \($0)" }
        for (index, type) in types.enumerated() {
            let place = shapes.place(of: type)
            #expect(place == index)
            #expect(shapes[place] == nil)
            shapes[place] = Shape(type: type, fields: ["a"])
        }
        for (index, type) in types.enumerated().reversed() {
            #expect(shapes.place(of: type) == index)
            #expect(shapes[index]?.types == [type])
            shapes[index] = Shape(type: type, fields: ["b"])
        }
        for type in types.shuffled() {
            #expect(shapes[shapes.place(of: type)] == Shape(type: type, fields: ["b"]))
        }
        #expect(shapes.place(of: "another") == count)
    }

    @Test("A type's position stays valid after others were added")
    func kept() {
        var shapes = LastShapes()
        let early = shapes.place(of: "early")
        let places = (0..<40).map { shapes.place(of: "\($0)") }
        shapes[early] = Shape(type: "early", fields: ["x"])
        #expect(Set(places + [early]).count == 41)
        #expect(places.allSatisfy { shapes[$0] == nil })
        #expect(shapes.place(of: "early") == early)
    }

    @Test(
        "Nodes have their own shapes beyond the types that are searched, and for names in two forms"
    )
    func flattened() throws {
        let interner = ShapeInterner()
        let flattener = Flattener(shapes: interner)
        for round in 0..<3 {
            for number in 0..<40 {
                _ = try flattener.node(
                    identifier: "\(round).\(number)", projection: "Type \(number)"
                ) {
                    try $0.encode(number, forKey: "field \(number)")
                }
            }
        }
        let nodes = flattener.finish().nodes
        #expect(nodes.count == 120)
        for (index, node) in nodes.enumerated() {
            #expect(
                node.first.shape
                    == Shape(type: "Type \(index % 40)", fields: ["field \(index % 40)"]))
            #expect(node.first.shape === nodes[index % 40].first.shape)
        }
    }

    @Test(
        "A node has the shape of its own fields, whatever nodes of its type below it have",
        arguments: [0, 1, 2])
    func nested(before: Int) throws {
        let flattener = Flattener()
        for number in 0..<before {
            _ = try flattener.node(identifier: "b\(number)", projection: "T") {
                try $0.encode(1, forKey: "outer")
            }
        }
        _ = try flattener.node(identifier: "outer", projection: "T") { record in
            try record.encode(1, forKey: "outer")
            _ = try flattener.node(identifier: "inner", projection: "T") {
                try $0.encode(1, forKey: "inner")
            }
        }
        let nodes = flattener.finish().nodes
        #expect(
            nodes.map { $0.first.shape.names } == Array(repeating: ["outer"], count: before + 1) + [
                ["inner"]
            ])
    }

    @Test(
        "Two types whose names are one string in Swift but differ in bytes are two types",
        arguments: [0, 20])
    func canonicalEquivalence(others: Int) throws {
        let flattener = Flattener()
        for number in 0..<others {
            _ = try flattener.node(identifier: "o\(number)", projection: "Other \(number)") { _ in }
        }
        for round in 0..<2 {
            for name in ["\u{E9}", "e\u{301}"] {
                _ = try flattener.node(identifier: "\(round) \(name)", projection: name) {
                    try $0.encode(1, forKey: "a")
                }
            }
        }
        let types = flattener.finish().nodes.suffix(4).map { Array($0.first.shape.types[0].utf8) }
        let expected = ["\u{E9}", "e\u{301}", "\u{E9}", "e\u{301}"].map { Array($0.utf8) }
        #expect(types == expected)
    }
}
