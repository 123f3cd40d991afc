import EspalierModels
import EspalierRecords

// Models for members: as children in every position, of every kind that the overloads distinguish.

/// A protocol of an app.
protocol Pinnable: Model {}

struct Pin: Pinnable, NormalizedModel, Hashable {
    let id: Int
    var text = ""
    var modelIdentifier: String? { "Pin:\(id)" }

    init(_ id: Int, _ text: String = "") { (self.id, self.text) = (id, text) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
    }

    func map(_ transform: (any Model) -> (any Model)?) -> Pin? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// Not `Equatable`.
final class Opaque: Model {
    let id: Int
    let text: String
    init(_ id: Int, _ text: String = "") { (self.id, self.text) = (id, text) }
    var modelIdentifier: String? { "Opaque:\(id)" }
    func isEqual(to model: any Model) -> Bool {
        (model as? Opaque).map { $0.id == id && $0.text == text } ?? false
    }
    func map(_ transform: (any Model) -> (any Model)?) -> Opaque? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// Stored through `Codable` only, inline.
struct CodablePin: Pinnable, Codable, Equatable {
    var note = "n"
    var modelIdentifier: String? { nil }
    func map(_ transform: (any Model) -> (any Model)?) -> CodablePin? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// A generic model with a child whose type only the caller knows.
struct Framed<Content: Model & NormalizedModel & Hashable>: Pinnable, NormalizedModel, Hashable {
    let content: Content
    var modelIdentifier: String? {
        "\(ModelMembers.typeName(of: Self.self)):\(content.modelIdentifier ?? "")"
    }

    init(_ content: Content) { self.content = content }
    init(from decoder: inout RecordDecoder) throws {
        content = try decoder.decode(forKey: "content")
    }
    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(content, forKey: "content")
    }

    func map(_ transform: (any Model) -> (any Model)?) -> Framed? {
        ModelMembers.map(content, transform).map(Framed.init)
    }

    func forEach(_ visit: (any Model) -> Void) { ModelMembers.forEach(content, visit) }
}

/// An inline enum with payloads, written as the macro would write it.
indirect enum Badge: Model, NormalizedModel, Hashable {
    case none
    case pin(Pin)
    case pair(Pin, or: Pin?)
    case framed(Badge)

    var modelIdentifier: String? { nil }

    func map(_ transform: (any Model) -> (any Model)?) -> Badge? {
        switch self {
        case .none: return self
        case .pin(let pin): return ModelMembers.map(pin, transform).map(Badge.pin)
        case .pair(let first, let second):
            guard let first = ModelMembers.map(first, transform),
                let second = ModelMembers.map(second, transform)
            else { return nil }
            return .pair(first, or: second)
        case .framed(let inner): return ModelMembers.map(inner, transform).map(Badge.framed)
        }
    }

    func forEach(_ visit: (any Model) -> Void) {
        switch self {
        case .none: break
        case .pin(let pin): ModelMembers.forEach(pin, visit)
        case .pair(let first, let second):
            ModelMembers.forEach(first, visit)
            ModelMembers.forEach(second, visit)
        case .framed(let inner): ModelMembers.forEach(inner, visit)
        }
    }

    func encode(to encoder: inout RecordEncoder) throws {
        switch self {
        case .none: try encoder.encodeCase("none") { _ in }
        case .pin(let pin): try encoder.encodeCase("pin") { try $0.encode(pin, forKey: "_0") }
        case .pair(let first, let second):
            try encoder.encodeCase("pair") { fields in
                try fields.encode(first, forKey: "_0")
                try fields.encode(second, forKey: "or")
            }
        case .framed(let inner):
            try encoder.encodeCase("framed") { try $0.encode(inner, forKey: "_0") }
        }
    }

    init(from decoder: inout RecordDecoder) throws {
        let name = try decoder.caseName()
        switch name {
        case "none": self = try decoder.decodeCase(name) { _ in .none }
        case "pin": self = try decoder.decodeCase(name) { .pin(try $0.decode(forKey: "_0")) }
        case "pair":
            self = try decoder.decodeCase(name) {
                .pair(try $0.decode(forKey: "_0"), or: try $0.decode(forKey: "or"))
            }
        case "framed": self = try decoder.decodeCase(name) { .framed(try $0.decode(forKey: "_0")) }
        default: throw decoder.unknownCase(name, of: Self.self)
        }
    }
}
