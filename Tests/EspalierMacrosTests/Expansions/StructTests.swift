#if Macros
import Testing

@Suite("The expansion of a struct")
struct StructTests {
    private let source = """
        @Normalized public struct Message {
            public let id: String
            let sender: Person
            private var likes: Int?
        }
        """

    private let expansion = """
        public struct Message {
            public let id: String
            let sender: Person
            private var likes: Int?

            public nonisolated var modelIdentifier: Swift.String? {
                "Message:" + EspalierModels.ModelMembers.identifier(of: self.id)
            }

            public nonisolated static var identifierPrefix: Swift.String {
                "Message:"
            }

            public nonisolated static func modelIdentifier(id: String) -> Swift.String {
                "Message:" + EspalierModels.ModelMembers.identifier(of: id)
            }

            public nonisolated var projectionIdentifier: Swift.String {
                "Message"
            }

            public nonisolated func map(_ transform: (any EspalierModels.Model) -> (any \
        EspalierModels.Model)?) -> Message? {
                guard let mapped0 = EspalierModels.ModelMembers.map(self.sender, transform)
                else {
                    return nil
                }
                var builder = Builder(self)
                builder.sender = mapped0
                return Message(builder)
            }

            public nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                EspalierModels.ModelMembers.forEach(self.sender, visit)
            }

            @_implements(Swift.Equatable, ==(_:_:))
            public nonisolated static func isSame(_ a: Message, _ b: Message) -> Swift.Bool {
                guard a.id == b.id else {
                    return false
                }
                guard EspalierModels.ModelMembers.areEqual(a.sender, b.sender) else {
                    return false
                }
                guard a.likes == b.likes else {
                    return false
                }
                return true
            }

            public nonisolated func hash(into hasher: inout Swift.Hasher) {
                hasher.combine(self.id)
                EspalierModels.ModelMembers.hash(self.sender, into: &hasher)
                hasher.combine(self.likes)
            }

            public nonisolated func hasSameEncoding(as other: Message) -> Swift.Bool {
                guard EspalierModels.ModelMembers.haveSameEncoding(self.id, other.id) else {
                    return false
                }
                guard EspalierModels.ModelMembers.haveSameEncoding(self.sender, other.sender) else {
                    return false
                }
                guard EspalierModels.ModelMembers.haveSameEncoding(self.likes, other.likes) else {
                    return false
                }
                return true
            }

            public nonisolated func merge(_ model: any EspalierModels.Model) -> any \
        EspalierModels.Model {
                if model is Message {
                    return model
                }
                guard let other = model as? any EspalierModels.ProjectedModel else {
                    return self
                }
                var builder = Builder(self)
                EspalierModels.ModelMembers.take(&builder.id, named: "id", from: other)
                EspalierModels.ModelMembers.take(&builder.sender, named: "sender", from: other)
                EspalierModels.ModelMembers.take(&builder.likes, named: "likes", from: other)
                return Message(builder)
            }

            public nonisolated func storedValue(_ name: Swift.String) -> Any? {
                switch name {
                case "id":
                    return self.id as Any
                case "sender":
                    return self.sender as Any
                case "likes":
                    return self.likes as Any
                default:
                    return nil
                }
            }

            public nonisolated func encode(to encoder: inout EspalierRecords.RecordEncoder) throws {
                encoder.expect(Self.self, fields: ["id", "sender", "likes"])
                try encoder.encode(self.id, forKey: "id")
                try encoder.encode(self.sender, forKey: "sender")
                try encoder.encode(self.likes, forKey: "likes")
            }

            public nonisolated struct Builder: Swift.Sendable {
                public var id: String
                var sender: Person
                fileprivate var likes: Int?

                public init(_ model: Message) {
                    self.id = model.id
                    self.sender = model.sender
                    self.likes = model.likes
                }

                public func build() -> Message {
                    return Message(self)
                }

                fileprivate static func read_id(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> String {
                    return try decoder.decode(forKey: "id")
                }

                fileprivate static func read_sender(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> Person {
                    return try decoder.decode(forKey: "sender")
                }

                fileprivate static func read_likes(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> Int? {
                    return try decoder.decode(forKey: "likes")
                }
            }

            public nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows \
        -> Message {
                var builder = Builder(self)
                try change(&builder)
                return Message(builder)
            }
        }

        nonisolated extension Message: EspalierModels.NormalizedModel, EspalierModels.Model, \
        EspalierModels.ProjectedModel, EspalierRecords.NodeModel, Swift.Hashable {
            public nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                decoder.expect(Self.self, fields: ["id", "sender", "likes"])
                let value0 = try Builder.read_id(from: &decoder)
                let value1 = try Builder.read_sender(from: &decoder)
                let value2 = try Builder.read_likes(from: &decoder)
                self.id = value0
                self.sender = value1
                self.likes = value2
            }

            public nonisolated init(_ builder: Builder) {
                self.id = builder.id
                self.sender = builder.sender
                self.likes = builder.likes
            }
        }
        """

    @Test("A public struct with properties of every access level is expanded")
    func structure() { expectExpansion(of: source, is: expansion) }
}
#endif
