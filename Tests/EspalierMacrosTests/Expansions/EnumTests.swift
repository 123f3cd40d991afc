#if Macros
import Testing

@Suite("The expansion of an enum")
struct EnumTests {
    private let source = """
        @Normalized public enum Attachment {
            case link(String)
            case card(title: String, Person?, width: Int = 100)
            case none
        }
        """

    private let expansion = """
        public enum Attachment {
            case link(String)
            case card(title: String, Person?, width: Int = 100)
            case none

            public nonisolated var modelIdentifier: Swift.String? {
                nil
            }

            public nonisolated var projectionIdentifier: Swift.String {
                "Attachment"
            }

            public nonisolated func map(_ transform: (any EspalierModels.Model) -> (any \
        EspalierModels.Model)?) -> Attachment? {
                switch self {
                case .card(let _0, let _1, let _2):
                    guard let mapped1 = EspalierModels.ModelMembers.map(_1, transform)
                    else {
                        return nil
                    }
                    return Self.card(title: _0, mapped1, width: _2)
                default:
                    return self
                }
            }

            public nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                switch self {
                case .card(_, let _1, _):
                    EspalierModels.ModelMembers.forEach(_1, visit)
                default:
                    break
                }
            }

            @_implements(Swift.Equatable, ==(_:_:))
            public nonisolated static func isSame(_ a: Attachment, _ b: Attachment) -> Swift.Bool {
                switch (a, b) {
                case (.link(let a0), .link(let b0)):
                    guard a0 == b0 else {
                        return false
                    }
                    return true
                case (.card(let a0, let a1, let a2), .card(let b0, let b1, let b2)):
                    guard a0 == b0 else {
                        return false
                    }
                    guard EspalierModels.ModelMembers.areEqual(a1, b1) else {
                        return false
                    }
                    guard a2 == b2 else {
                        return false
                    }
                    return true
                case (.none, .none):
                    return true
                default:
                    return false
                }
            }

            public nonisolated func hash(into hasher: inout Swift.Hasher) {
                switch self {
                case .link(let _0):
                    hasher.combine(0)
                    hasher.combine(_0)
                case .card(let _0, let _1, let _2):
                    hasher.combine(1)
                    hasher.combine(_0)
                    EspalierModels.ModelMembers.hash(_1, into: &hasher)
                    hasher.combine(_2)
                case .none:
                    hasher.combine(2)
                }
            }

            public nonisolated func hasSameEncoding(as other: Attachment) -> Swift.Bool {
                switch (self, other) {
                case (.link(let a0), .link(let b0)):
                    guard EspalierModels.ModelMembers.haveSameEncoding(a0, b0) else {
                        return false
                    }
                    return true
                case (.card(let a0, let a1, let a2), .card(let b0, let b1, let b2)):
                    guard EspalierModels.ModelMembers.haveSameEncoding(a0, b0) else {
                        return false
                    }
                    guard EspalierModels.ModelMembers.haveSameEncoding(a1, b1) else {
                        return false
                    }
                    guard EspalierModels.ModelMembers.haveSameEncoding(a2, b2) else {
                        return false
                    }
                    return true
                case (.none, .none):
                    return true
                default:
                    return false
                }
            }

            public nonisolated func encode(to encoder: inout EspalierRecords.RecordEncoder) throws {
                switch self {
                case .link(let _0):
                    try encoder.encodeCase("link") { fields in
                        try fields.encode(_0, forKey: "_0")
                    }
                case .card(let _0, let _1, let _2):
                    try encoder.encodeCase("card") { fields in
                        try fields.encode(_0, forKey: "title")
                        try fields.encode(_1, forKey: "_1")
                        try fields.encode(_2, forKey: "width")
                    }
                case .none:
                    try encoder.encodeCase("none") { _ in
                    }
                }
            }

            public nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                let name = try decoder.caseName(among: ["link", "card", "none"])
                switch name {
                case "link":
                    self = try decoder.decodeCase("link") { fields in
                        try Self.link(fields.decode(forKey: "_0"))
                    }
                case "card":
                    self = try decoder.decodeCase("card") { fields in
                        try Self.card(title: fields.decode(forKey: "title"), \
        fields.decode(forKey: "_1"), width: fields.decode(forKey: "width", default: 100))
                    }
                case "none":
                    self = try decoder.decodeCase("none") { _ in
                        Self.none
                    }
                default:
                    throw decoder.unknownCase(name, of: Self.self)
                }
            }
        }

        nonisolated extension Attachment: EspalierModels.NormalizedModel, EspalierModels.Model, \
        Swift.Hashable {

        }
        """

    @Test("An enum gets switches over cases with and without associated values")
    func enumeration() { expectExpansion(of: source, is: expansion) }
}
#endif
