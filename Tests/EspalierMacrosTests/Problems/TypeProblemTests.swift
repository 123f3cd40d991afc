#if Macros
import Testing

@Suite("Diagnostics about the type")
struct TypeProblemTests {
    @Test("A class that is not final gets a fix-it to make it final")
    func notFinal() {
        expectProblem(
            """
            @Normalized public class Person {
                let id: String
            }
            """,
            "a class with @Normalized must be final: a subclass would be stored as this class",
            line: 1, column: 20, fixIt: "insert 'final'",
            fixed: """
                @Normalized public final class Person {
                    let id: String
                }
                """)
    }

    @Test("@Normalized on an actor or a protocol is an error")
    func otherKinds() {
        let message = " can't be stored: apply @Normalized to a struct, a final class or an enum"
        expectProblem("@Normalized actor Person {}", "an actor" + message, line: 1, column: 13)
        expectProblem(
            "@Normalized protocol Person {}", "a protocol" + message, line: 1, column: 13)
    }

    @Test("An enum with raw values gets a fix-it to make it a FieldValue, other enums do not")
    func rawValues() {
        expectProblem(
            """
            @Normalized enum Mood: String, Sendable {
                case good, bad
            }
            """,
            """
            an enum with raw values is stored as its raw value: remove @Normalized and declare \
            'enum Mood: String, FieldValue'
            """, line: 1, column: 18,
            fixIt: "insert 'FieldValue', which makes '@Normalized' unnecessary",
            fixed: """
                @Normalized enum Mood: String, FieldValue, Sendable {
                    case good, bad
                }
                """)
        expectExpansion(
            of: "@Normalized enum Mood: Sendable { case good, bad }", has: "encodeCase(\"good\")")
    }

    @Test("An enum without cases is an error")
    func noCases() {
        expectProblem(
            "@Normalized enum Nothing {}",
            "an enum without cases has no values: add a case or remove @Normalized", line: 1,
            column: 18)
    }

    @Test("A private nested model gets a fix-it to make it fileprivate")
    func privateType() {
        expectProblem(
            """
            enum Feed {
                @Normalized private struct Message {
                    let id: String
                }
            }
            """,
            "the generated extension can't see the private 'Message': make it fileprivate",
            line: 2, column: 17, fixIt: "replace 'private' with 'fileprivate'",
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

    @Test("A private nested type of a property gets a fix-it to make it fileprivate")
    func privateMemberType() {
        expectProblem(
            """
            @Normalized struct Message {
                private let tone: [Tone]?
                private struct Tone: Codable {}
                private struct Other {}
            }
            """,
            """
            the generated builder can't see the private 'Tone', the type of 'tone': make it \
            fileprivate
            """, line: 3, column: 5, fixIt: "replace 'private' with 'fileprivate'",
            fixed: """
                @Normalized struct Message {
                    private let tone: [Tone]?
                    fileprivate struct Tone: Codable {}
                    private struct Other {}
                }
                """)
    }

    @Test("A generic parameter without a constraint gets a fix-it to make it a model")
    func unconstrained() {
        expectProblem(
            """
            @Normalized struct Page<Item, Kind> {
                let id: String
                let items: [Item?]
            }
            """,
            """
            'Item' in the type of 'items' has no constraint, so a model in it would be stored \
            inside its parent: constrain 'Item' to NormalizedModel & Model, or to FieldValue or \
            Codable if it is never a model
            """, line: 3, column: 16, fixIt: "insert ': NormalizedModel & Model'",
            fixed: """
                @Normalized struct Page<Item: NormalizedModel & Model, Kind> {
                    let id: String
                    let items: [Item?]
                }
                """)
    }

    @Test("An unconstrained parameter of an outer type is an error in an associated value")
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
            'Item' in the type of this value of 'item' has no constraint, so a model in it would \
            be stored inside its parent: constrain 'Item' to NormalizedModel & Model, or to \
            FieldValue or Codable if it is never a model
            """, line: 3, column: 19)
    }

    @Test("A constraint in a where clause is enough for a generic parameter")
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
