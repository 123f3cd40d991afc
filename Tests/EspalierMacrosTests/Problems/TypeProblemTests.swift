#if Macros
import Testing

@Suite("what is said about a type that can't be a model")
struct TypeProblemTests {
    @Test("a class that is not final; the fix-it makes it final")
    func notFinal() {
        expectProblem(
            """
            @Normalized public class Person {
                let id: String
            }
            """,
            "a class with @Normalized has to be final: a subclass would be stored as this class",
            line: 1,
            column: 20,
            fixIt: "insert 'final'",
            fixed: """
                @Normalized public final class Person {
                    let id: String
                }
                """)
    }

    @Test("an actor, a protocol, an extension")
    func otherKinds() {
        let message = "@Normalized is for structs, final classes and enums; "
        expectProblem(
            "@Normalized actor Person {}", message + "an actor is no value that can be stored",
            line: 1, column: 13)
        expectProblem(
            "@Normalized protocol Person {}", message + "a protocol is no value that can be stored",
            line: 1, column: 13
        )
    }

    @Test("an enum that has raw values is told to be a FieldValue; one with payloads is not")
    func rawValues() {
        expectProblem(
            """
            @Normalized enum Mood: String, Sendable {
                case good, bad
            }
            """,
            """
            an enum with raw values is stored as its raw value and needs no @Normalized: enum Mood: String, FieldValue
            """, line: 1, column: 18, fixIt: "insert 'FieldValue', and remove '@Normalized'",
            fixed: """
                @Normalized enum Mood: String, FieldValue, Sendable {
                    case good, bad
                }
                """)
        expectExpansion(
            of: "@Normalized enum Mood: Sendable { case good, bad }", has: "encodeCase(\"good\")")
    }

    @Test("an enum without cases")
    func noCases() {
        expectProblem(
            "@Normalized enum Nothing {}", "an enum without cases has no value that can be stored",
            line: 1, column: 18)
    }

    @Test("a private type in another type, which its extension can't see")
    func privateType() {
        expectProblem(
            """
            enum Feed {
                @Normalized private struct Message {
                    let id: String
                }
            }
            """,
            "the extension that makes 'Message' a model can't see a private type: make it fileprivate",
            line: 2,
            column: 17, fixIt: "replace 'private' by 'fileprivate'",
            fixed: """
                enum Feed {
                    @Normalized fileprivate struct Message {
                        let id: String
                    }
                }
                """)
        expectExpansion(
            of: "@Normalized private struct Message { let id: String }",
            has: "fileprivate nonisolated func map")
    }

    @Test("a private type that a member has, which the builder can't see")
    func privateMemberType() {
        expectProblem(
            """
            @Normalized struct Message {
                private let tone: [Tone]?
                private struct Tone: Codable {}
                private struct Other {}
            }
            """,
            "'tone' is a part of the builder, which can't see the private 'Tone': make it fileprivate",
            line: 3,
            column: 5, fixIt: "replace 'private' by 'fileprivate'",
            fixed: """
                @Normalized struct Message {
                    private let tone: [Tone]?
                    fileprivate struct Tone: Codable {}
                    private struct Other {}
                }
                """)
    }

    @Test("a generic parameter of which nothing is known; the fix-it makes it a model")
    func unconstrained() {
        expectProblem(
            """
            @Normalized struct Page<Item, Kind> {
                let id: String
                let items: [Item?]
            }
            """,
            """
            'items' has a type with 'Item', of which nothing is known: a model in it would be stored as a part of its parent. \
            Constrain 'Item' to NormalizedModel & Model; to FieldValue or Codable if it is never a model
            """, line: 3, column: 16, fixIt: "insert ': NormalizedModel & Model'",
            fixed: """
                @Normalized struct Page<Item: NormalizedModel & Model, Kind> {
                    let id: String
                    let items: [Item?]
                }
                """)
    }

    @Test("the same for a parameter of a type around it, and for a payload")
    func unconstrainedAround() {
        expectProblem(
            """
            struct Feed<Item> {
                @Normalized enum Entry {
                    case item(Item)
                }
            }
            """,
            """
            this value of 'item' has a type with 'Item', of which nothing is known: a model in it would be stored as a part of \
            its parent. Constrain 'Item' to NormalizedModel & Model; to FieldValue or Codable if it is never a model
            """, line: 3, column: 19)
    }

    @Test("a parameter that a where clause constrains is known")
    func whereClause() {
        expectExpansion(
            of: "@Normalized struct Page<Item> where Item: Codable { let items: [Item] }",
            has: "mapDynamically(self.items")
        expectExpansion(
            of: "@Normalized struct Page<Item> where Item: Model { let items: [Item] }",
            has: "mapDynamically(self.items")
    }
}
#endif
