#if Macros
import Testing

@Suite("who sees what is generated")
struct AccessTests {
    @Test(
        "as much as the type is seen",
        arguments: [
            ("public ", "public "), ("", ""), ("internal ", ""), ("package ", "package "),
            ("fileprivate ", "fileprivate "),
            ("private ", "fileprivate "),
        ])
    func types(written: String, generated: String) {
        expectExpansion(
            of: "@Normalized \(written)struct Message { let id: Int }",
            has: "\n    \(generated)nonisolated func map(",
            "\n    \(generated)nonisolated init(from",
            "\n    \(generated)nonisolated struct Builder")
    }

    @Test("a type in a public extension is public, unless it says something else")
    func extensions() {
        expectExpansion(
            of: "public extension Feed { @Normalized struct Message { let id: Int } }",
            has: "public nonisolated func map(")
        expectExpansion(
            of: "public extension Feed { @Normalized internal struct Message { let id: Int } }",
            has: "nonisolated func map(", without: ["public nonisolated"])
    }

    @Test("no more than the types around it are seen")
    func outerTypes() {
        expectExpansion(
            of: "enum Feed { @Normalized public struct Message { let id: Int } }",
            has: "nonisolated func map(",
            without: ["public nonisolated"])
        expectExpansion(
            of: "public enum Feed { @Normalized public struct Message { let id: Int } }",
            has: "public nonisolated func map(", "public nonisolated init(_ builder")
        expectExpansion(
            of: "extension Feed { @Normalized public struct Message { let id: Int } }",
            has: "public nonisolated func map(", "    nonisolated init(_ builder",
            without: ["public nonisolated init(_ b"])
    }

    @Test("the builder's variables: as much as the member, and no more than the type")
    func members() {
        expectExpansion(
            of: """
                @Normalized package struct Message {
                    public let a: Int
                    package let b: Int
                    let c: Int
                    fileprivate let d: Int
                    private let e: Int
                    public private(set) var f: Int
                }
                """, has: "package var a", "package var b", "\n        var c", "fileprivate var d",
            "fileprivate var e",
            "package var f")
    }

    @Test("a class's memberwise initialiser: as much as its least member")
    func memberwise() {
        expectExpansion(
            of: "@Normalized public final class Message { public let id: Int; let text: String }",
            has: "    nonisolated init(id: Int, text: String)",
            without: ["public nonisolated init(id"])
        expectExpansion(
            of: "@Normalized public final class Message { public let id: Int }",
            has: "public nonisolated init(id: Int)"
        )
    }
}
#endif
