#if Macros
public import Espalier
import Foundation

@Normalized struct Page<Item: NormalizedModel & Model> {
    let id: Int
    let items: [Item]
    let first: Item?
}

@Normalized struct Loose<Item: FieldValue & Sendable> {
    let id: Int
    let items: [Item]
}

@Normalized enum Outcome<Value: NormalizedModel & Model> {
    case success(Value)
    case failure(code: Int)
}

/// Models that define `==`, which ignores `count`.
@Normalized struct Loosely {
    let id: Int
    var count: Int
    static func == (a: Loosely, b: Loosely) -> Bool { a.id == b.id }
}

/// Equal values may have different identifiers.
@Normalized struct LooselyNamed {
    let id: Int
    let name: String
    static func == (a: Self, b: Self) -> Bool { a.name == b.name }
}

@Normalized final class LooselyShared {
    let id: Int
    let count: Int
    static func == (a: LooselyShared, b: LooselyShared) -> Bool { a.id == b.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

@Normalized enum LooselyCased: Hashable {
    case counted(id: Int, count: Int)
    static func == (a: LooselyCased, b: LooselyCased) -> Bool { a.id == b.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
    private var id: Int {
        switch self {
        case .counted(let id, _): id
        }
    }
}

/// Defines a `==` with a number, which is not the requirement of `Equatable`.
@Normalized struct Money {
    let amount: Int
    static func == (a: Money, b: Int) -> Bool { a.amount == b }
}

/// An enum that is a node.
@Normalized(type: "user") enum Account {
    case named(id: Int, person: Person)
    case closed(id: Int)

    var id: Int {
        switch self {
        case .named(let id, _), .closed(let id): id
        }
    }
}

@Normalized(identifier: \.name) enum Delivery {
    case post(address: String)
    case courier(String, stops: Int)
    var name: String { "delivery" }
}

@Normalized final class Tree {
    let id: Int
    let person: Person?
    let children: [Tree]

    init(id: Int, person: Person?, children: [Tree] = []) {
        self.id = id
        self.person = person
        self.children = children
    }
}

/// A class without an initializer, which gets a memberwise one.
@Normalized public final class Place: Sendable {
    let id: Int
    let name: String
    let label = "place"
}

/// Every kind of property that is no model.
@Normalized struct Scalars {
    enum Mood: String, FieldValue { case good, bad }
    enum Size: Int, Codable { case small, large }
    struct Point: Codable, Hashable { var x = 0, y = 0 }

    let id: UUID
    var a, b: String
    var count = 0
    var ratio = 1.5, on = true, text = "t"
    var date: Date
    var data: Data?
    var url: URL?
    var mood: Mood
    var size: Size
    var point: Point
    var points: [Point]
    var observed: Int = 0 { didSet {} }
    var total: Int { count + observed }
    static let shared = 1
    let version = 2
    @NotStored var open = false
    @NotStored var draft: String?
    @NotStored lazy var cached: Int = 1
}

@Normalized(type: "user") struct Renamed {
    let id: Int
    @Stored("display_name") let name: String
}

@Normalized(type: "user") struct Brief {
    let id: Int
    @Stored("display_name") var name: String
    @Stored(default: 7) let likes: Int
    @Stored("tags", default: []) let labels: [String]
    @Stored(default: Scalars.Mood.bad) let mood: Scalars.Mood
    @Stored(default: Scalars.Point(x: 1)) let point: Scalars.Point
}

/// Default values that use `Self`.
@Normalized(type: "settled") struct Settled {
    static let fallback = 5
    static let person: any Attachable = Person(id: 5, name: "fallback")
    let id: Int
    @Stored(default: Self.fallback) let count: Int
    @Stored(default: [Self.fallback, Self.fallback + 1]) let counts: [Int]
    @Stored(default: Self.person) let anyone: any Attachable
}

@Normalized(type: "settled") final class SettledShared {
    static let fallback = 5
    let id: Int
    @Stored(default: Self.fallback) let count: Int
    @Stored(default: [Self.fallback]) let counts: [Int]
}

@Normalized(type: "settled") struct Unsettled { let id: Int }

/// Implicitly unwrapped optionals.
@Normalized struct Forced {
    let id: Int
    var one: (any Attachable)!
    var person: Person!
    var count: Int!
    @Stored(default: Person(id: 6, name: "")) var other: (any Attachable)!
}

@Normalized(identifier: \.urn) struct ForcedName { var urn: String! }

@Normalized(identifier: \.header.urn) struct Linked {
    struct Header: Codable, Hashable { let urn: String? }
    let header: Header
}

enum Feed {
    struct Key: RawRepresentable, Codable, Hashable { let rawValue: Int }
    @Normalized public struct Entry {
        public let id: Key
        let people: [Person]
        private let secret: Int
        public init(id: Key, people: [Person], secret: Int) {
            self.id = id
            self.people = people
            self.secret = secret
        }
    }
}

/// Properties with names that the generated code uses.
@Normalized struct Awkward {
    let id: Int
    let encoder, decoder, transform, visit, hasher, other, builder, model, name, change, a, b,
        fields, mapped0: String
    let Model: Person
    let String_: String
    let copy, map, forEach, merge, hash, build, encode: Person?
    let `class`, `default`, `self_`: Int
}

enum Site {
    @Normalized struct Builder {
        let id: Int
        let `Type`, `init`: Int
    }
}
#endif
