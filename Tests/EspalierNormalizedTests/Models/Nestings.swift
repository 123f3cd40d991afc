#if Macros
import Espalier
import Foundation

@Normalized struct Person {
    let id: Int
    var name: String
}

/// An inline node.
@Normalized struct Caption {
    let text: String
    let by: Person
}

protocol Attachable: Model {}
extension Person: Attachable {}
extension Caption: Attachable {}

@Normalized indirect enum Attachment {
    case link(String)
    case card(title: String, Person, width: Int = 100)
    case album([Person], cover: Person?)
    case wrapped(Attachment)
    case any(any Attachable, [any Attachable])
    case none
}

/// Children in every nesting.
@Normalized struct Nestings {
    let id: String
    var required: Person
    var optional: Person?
    var array: [Person] = []
    var set: Set<Person> = []
    var dictionary: [String: Person] = [:]
    var arrays: [[Person?]] = []
    var deep: [String: [Person]?]? = nil
    var inline: Caption?
    var anyModel: any Model
    var anyOptional: (any Attachable)?
    var anyArray: [any Attachable] = []
    var anyDictionary: [String: [any Attachable]?] = [:]
    var payload: Attachment
    let kind = "nestings"
}

// Models whose children the macro can't see in the syntax.

struct Shelf<Item: FieldValue & Hashable & Sendable> {
    typealias Items = [Item]

    enum Inner {
        @Normalized struct Cell { let items: Items }
    }
}

extension Shelf {
    @Normalized struct Row {
        let items: [Item]
        let cover: Item?
    }

    @Normalized enum Slot { case several([Item]) }
}

protocol Section: Model {
    associatedtype Item: FieldValue, Hashable, Sendable
}

@Normalized struct PeopleSection: Section { typealias Item = Person }
@Normalized struct NumberSection: Section { typealias Item = Int }

@Normalized struct SectionPage<S: Model & Section> { let items: [S.Item] }
@Normalized struct ConstrainedPage<S: Section> where S.Item: NormalizedModel & Model {
    let items: [S.Item]
}

enum Other {
    /// A protocol with the name of the package's `Model`.
    protocol Model: FieldValue, Hashable, Sendable {}
    @Normalized struct Page<Item: Model> { let items: [Item] }
}

extension Person: Other.Model {}
#endif
