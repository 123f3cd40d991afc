#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Objects with an identity become nodes")
struct IdentityRuleTests {
    private let rule = IdentityRule(
        idKey: "id", types: [TypeMapping(property: "sender", type: "User")])

    private func identifiers(_ value: JSONValue, type: String = "Message") -> [String] {
        func collect(_ tree: JSONTree) -> [String] {
            switch tree {
            case .array(let elements): elements.flatMap(collect)
            case .object(let node):
                [node.modelIdentifier].compactMap { $0 }
                    + node.members.flatMap { collect($0.value) }
            default: []
            }
        }
        return collect(rule.tree(from: value, type: type))
    }

    @Test(
        "A nonempty string or a whole number is an identity",
        arguments: [
            ("a", "Message:a"), (" ", "Message: "), ("0", "Message:0"), (0, "Message:0"),
            (-7, "Message:-7"),
            ("a:b", "Message:a:b"), (.number(.uint(.max)), "Message:18446744073709551615"),
            (.number(.literal("12345678901234567890123")), "Message:12345678901234567890123"),
            ("\u{E9}", "Message:\u{E9}"),
        ] as [(JSONValue, String)])
    func identities(id: JSONValue, identifier: String) {
        #expect(identifiers(["id": id]) == [identifier])
    }

    @Test(
        "Any other value is no identity, and the object stays inline",
        arguments: [
            nil, true, false, "", 1.5, 1.0, -0.0, [], [1], [:], ["id": 1.5],
            .number(.literal("1e400")),
            .number(.literal("0.12345678901234567890123")),
        ] as [JSONValue])
    func noIdentities(id: JSONValue) {
        #expect(identifiers(["id": id]) == [])
        #expect(rule.tree(from: ["id": id], type: "Message").value == ["id": id])
    }

    @Test("The type is that of the property, through arrays of arrays")
    func types() {
        let value: JSONValue = [
            "id": 1, "sender": ["id": 2], "tags": [["id": 3], [["id": 4], 5]],
            "sub": ["sender": [["id": 6]], "id": "x"],
        ]
        #expect(
            Set(identifiers(value)) == [
                "Message:1", "User:2", "tags:3", "tags:4", "sub:x", "User:6",
            ])
    }

    @Test("Two pairs of type and id never make one identifier")
    func escaping() {
        #expect(IdentityRule.identifier(type: "dc", id: "creator:1") == "dc:creator:1")
        #expect(IdentityRule.identifier(type: "dc:creator", id: "1") == "dc%3Acreator:1")
        #expect(IdentityRule.identifier(type: "dc%3Acreator", id: "1") == "dc%253Acreator:1")
        #expect(IdentityRule.identifier(type: "", id: "1") == ":1")
    }

    @Test("Names compare by their bytes")
    func bytes() {
        let rule = IdentityRule(
            idKey: "\u{E9}", types: [TypeMapping(property: "e\u{301}", type: "T")])
        let tree = rule.tree(from: ["e\u{301}": ["\u{E9}": 1], "\u{E9}": ["\u{E9}": 2]], type: "R")
        guard case .object(let root) = tree else { return #expect(Bool(false)) }
        #expect(root.modelIdentifier == nil)
        let identifiers = root.members.map { $0.value.modelIdentifier }
        #expect(identifiers == ["T:1", "\u{E9}:2"])
    }

    @Test("Members are in the order of the bytes of their names")
    func order() {
        guard case .object(let node) = rule.tree(from: ["é": 1, "z": 2, "": 3, "Z": 4], type: "T")
        else { return }
        #expect(node.members.map(\.name) == ["", "Z", "z", "é"])
    }
}
#endif
