#if Macros
import Testing

@Suite("Access levels of generated members")
struct AccessTests {
    @Test(
        "Generated members have the access level of the type",
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

    @Test("The extension is available where the type and those around it are")
    func availability() {
        expectExpansion(
            of: "@available(macOS 26, *) @Normalized struct Message { let id: Int }",
            has: "@available(macOS 26, *)\nnonisolated extension Message:")
        expectExpansion(
            of: """
                @available(macOS 26, *)
                enum Feed {
                    @Normalized
                    @available(*, deprecated)
                    struct Message { let id: Int }
                }
                """,
            has: "@available(*, deprecated)\n@available(macOS 26, *)\nnonisolated extension")
    }

    @Test("A model in a public extension is public unless it has its own modifier")
    func extensions() {
        expectExpansion(
            of: "public extension Feed { @Normalized struct Message { let id: Int } }",
            has: "public nonisolated func map(")
        expectExpansion(
            of: "public extension Feed { @Normalized internal struct Message { let id: Int } }",
            has: "nonisolated func map(", without: ["public nonisolated"])
    }

    @Test("Generated members have at most the access level of the outer types")
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

    @Test("A variable of the builder has the access level of its property, up to the type's")
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

    @Test("A memberwise initializer has the access level of the most restricted property")
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
