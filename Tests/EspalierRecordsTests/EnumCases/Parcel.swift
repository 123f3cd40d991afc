import EspalierModels
import EspalierRecords

/// An enum by `encodeCase` and `decodeCase`, and the same enum as `Codable` synthesises it.
enum Parcel: NormalizedModel, Equatable {
    case none
    case person(Ada)
    case pair(first: Ada, second: Ada?)
    case list([Ada], Int)
    indirect case boxed(Parcel)

    init(from decoder: inout RecordDecoder) throws {
        let name = try decoder.caseName()
        switch name {
        case "none": self = try decoder.decodeCase(name) { _ in .none }
        case "person": self = try decoder.decodeCase(name) { .person(try $0.decode(forKey: "_0")) }
        case "pair":
            self = try decoder.decodeCase(name) { fields in
                .pair(
                    first: try fields.decode(forKey: "first"),
                    second: try fields.decode(forKey: "second"))
            }
        case "list":
            // Out of order.
            self = try decoder.decodeCase(name) { fields in
                let number: Int = try fields.decode(forKey: "_1")
                return .list(try fields.decode(forKey: "_0"), number)
            }
        case "boxed": self = try decoder.decodeCase(name) { .boxed(try $0.decode(forKey: "_0")) }
        default: throw decoder.unknownCase(name, of: Self.self)
        }
    }

    func encode(to encoder: inout RecordEncoder) throws {
        switch self {
        case .none: try encoder.encodeCase("none") { _ in }
        case .person(let person):
            try encoder.encodeCase("person") { try $0.encode(person, forKey: "_0") }
        case .pair(let first, let second):
            try encoder.encodeCase("pair") { fields in
                try fields.encode(first, forKey: "first")
                try fields.encode(second, forKey: "second")
            }
        case .list(let people, let number):
            try encoder.encodeCase("list") { fields in
                try fields.encode(people, forKey: "_0")
                try fields.encode(number, forKey: "_1")
            }
        case .boxed(let inner):
            try encoder.encodeCase("boxed") { try $0.encode(inner, forKey: "_0") }
        }
    }

    var synthesised: SynthesisedParcel {
        switch self {
        case .none: .none
        case .person(let person): .person(person)
        case .pair(let first, let second): .pair(first: first, second: second)
        case .list(let people, let number): .list(people, number)
        case .boxed(let inner): .boxed(inner.synthesised)
        }
    }
}

indirect enum SynthesisedParcel: Codable, Equatable, Sendable {
    case none
    case person(Ada)
    case pair(first: Ada, second: Ada?)
    case list([Ada], Int)
    case boxed(SynthesisedParcel)
}

struct Ada: NormalizedModel, Codable, Hashable {
    var id = 1
    var modelIdentifier: String? { "Ada:\(id)" }
    init(_ id: Int = 1) { self.id = id }
}

/// A record with parcels in every position, by hand or through `Codable`.
struct Delivery<Content: Sendable>: IdentifiedModel {
    var single: Content
    var optional: Content?
    var list: [Content] = []
    var after = "after"
    var modelIdentifier: String? { "Delivery" }
    var projectionIdentifier: String { "Delivery" }
}

extension Delivery: Equatable where Content: Equatable {}
extension Delivery: Encodable where Content: Encodable {}
extension Delivery: Decodable where Content: Decodable {}

extension Delivery: FieldValue, NormalizedModel where Content == Parcel {
    init(from decoder: inout RecordDecoder) throws {
        single = try decoder.decode(forKey: "single")
        optional = try decoder.decode(forKey: "optional")
        list = try decoder.decode(forKey: "list")
        after = try decoder.decode(forKey: "after")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(single, forKey: "single")
        try encoder.encode(optional, forKey: "optional")
        try encoder.encode(list, forKey: "list")
        try encoder.encode(after, forKey: "after")
    }
}

/// An enum that is a node.
enum Ticket: NormalizedModel, Equatable {
    case open(Int)
    case closed

    var modelIdentifier: String? { "Ticket" }

    init(from decoder: inout RecordDecoder) throws {
        let name = try decoder.caseName(among: ["open", "closed"])
        switch name {
        case "open": self = try decoder.decodeCase(name) { .open(try $0.decode(forKey: "_0")) }
        case "closed": self = try decoder.decodeCase(name) { _ in .closed }
        default: throw decoder.unknownCase(name, of: Self.self)
        }
    }

    func encode(to encoder: inout RecordEncoder) throws {
        switch self {
        case .open(let number):
            try encoder.encodeCase("open") { try $0.encode(number, forKey: "_0") }
        case .closed: try encoder.encodeCase("closed") { _ in }
        }
    }
}
