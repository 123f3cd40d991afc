#if Macros
import Testing

@Suite("what @Normalized makes of each kind of type, in full")
struct KindTests {
    @Test("a public struct with members of every access")
    func structure() {
        expectExpansion(
            of: """
                @Normalized public struct Message {
                    public let id: String
                    let sender: Person
                    private var likes: Int?
                }
                """,
            is: """
                public struct Message {
                    public let id: String
                    let sender: Person
                    private var likes: Int?

                    public nonisolated var modelIdentifier: Swift.String? {
                        "Message:" + EspalierModels.ModelMembers.identifier(of: self.id)
                    }

                    public nonisolated func map(_ transform: (any EspalierModels.Model) -> (any EspalierModels.Model)?) -> Message? {
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

                    public nonisolated static func == (a: Message, b: Message) -> Swift.Bool {
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

                    public nonisolated func merge(_ model: any EspalierModels.Model) -> any EspalierModels.Model {
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
                    }

                    public nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows -> Message {
                        var builder = Builder(self)
                        try change(&builder)
                        return Message(builder)
                    }
                }

                nonisolated extension Message: EspalierModels.NormalizedModel, EspalierModels.Model, EspalierModels.ProjectedModel, Swift.Hashable {
                    public nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                        decoder.expect(Self.self, fields: ["id", "sender", "likes"])
                        self.id = try decoder.decode(forKey: "id")
                        self.sender = try decoder.decode(forKey: "sender")
                        self.likes = try decoder.decode(forKey: "likes")
                    }

                    public nonisolated init(_ builder: Builder) {
                        self.id = builder.id
                        self.sender = builder.sender
                        self.likes = builder.likes
                    }
                }
                """)
    }

    @Test("a final class: its initialisers stand in it, and there is a memberwise one")
    func finalClass() {
        expectExpansion(
            of: """
                @Normalized final class Node {
                    let id: Int
                    let parent: Node?
                }
                """,
            is: """
                final class Node {
                    let id: Int
                    let parent: Node?

                    nonisolated var modelIdentifier: Swift.String? {
                        "Node:" + EspalierModels.ModelMembers.identifier(of: self.id)
                    }

                    nonisolated func map(_ transform: (any EspalierModels.Model) -> (any EspalierModels.Model)?) -> Node? {
                        guard let mapped0 = EspalierModels.ModelMembers.map(self.parent, transform)
                        else {
                            return nil
                        }
                        var builder = Builder(self)
                        builder.parent = mapped0
                        return Node(builder)
                    }

                    nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                        EspalierModels.ModelMembers.forEach(self.parent, visit)
                    }

                    nonisolated static func == (a: Node, b: Node) -> Swift.Bool {
                        if a === b {
                            return true
                        }
                        guard a.id == b.id else {
                            return false
                        }
                        guard EspalierModels.ModelMembers.areEqual(a.parent, b.parent) else {
                            return false
                        }
                        return true
                    }

                    nonisolated func hash(into hasher: inout Swift.Hasher) {
                        hasher.combine(self.id)
                        EspalierModels.ModelMembers.hash(self.parent, into: &hasher)
                    }

                    nonisolated func merge(_ model: any EspalierModels.Model) -> any EspalierModels.Model {
                        if model is Node {
                            return model
                        }
                        guard let other = model as? any EspalierModels.ProjectedModel else {
                            return self
                        }
                        var builder = Builder(self)
                        EspalierModels.ModelMembers.take(&builder.id, named: "id", from: other)
                        EspalierModels.ModelMembers.take(&builder.parent, named: "parent", from: other)
                        return Node(builder)
                    }

                    nonisolated func storedValue(_ name: Swift.String) -> Any? {
                        switch name {
                        case "id":
                            return self.id as Any
                        case "parent":
                            return self.parent as Any
                        default:
                            return nil
                        }
                    }

                    nonisolated func encode(to encoder: inout EspalierRecords.RecordEncoder) throws {
                        encoder.expect(Node.self, fields: ["id", "parent"])
                        try encoder.encode(self.id, forKey: "id")
                        try encoder.encode(self.parent, forKey: "parent")
                    }

                    nonisolated init(id: Int, parent: Node?) {
                        self.id = id
                        self.parent = parent
                    }

                    nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                        decoder.expect(Node.self, fields: ["id", "parent"])
                        self.id = try decoder.decode(forKey: "id")
                        self.parent = try decoder.decode(forKey: "parent")
                    }

                    nonisolated init(_ builder: Builder) {
                        self.id = builder.id
                        self.parent = builder.parent
                    }

                    nonisolated struct Builder: Swift.Sendable {
                        var id: Int
                        var parent: Node?

                        init(_ model: Node) {
                            self.id = model.id
                            self.parent = model.parent
                        }

                        func build() -> Node {
                            return Node(self)
                        }
                    }

                    nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows -> Node {
                        var builder = Builder(self)
                        try change(&builder)
                        return Node(builder)
                    }
                }

                nonisolated extension Node: EspalierModels.NormalizedModel, EspalierModels.Model, EspalierModels.ProjectedModel, Swift.Hashable {

                }
                """)
    }

    @Test("an enum: cases with and without payloads, labels, and payloads that are no models")
    func enumeration() {
        expectExpansion(
            of: """
                @Normalized public enum Attachment {
                    case link(String)
                    case card(title: String, Person?, width: Int = 100)
                    case none
                }
                """,
            is: """
                public enum Attachment {
                    case link(String)
                    case card(title: String, Person?, width: Int = 100)
                    case none

                    public nonisolated var modelIdentifier: Swift.String? {
                        nil
                    }

                    public nonisolated func map(_ transform: (any EspalierModels.Model) -> (any EspalierModels.Model)?) -> Attachment? {
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

                    public nonisolated static func == (a: Attachment, b: Attachment) -> Swift.Bool {
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
                                try Self.card(title: fields.decode(forKey: "title"), fields.decode(forKey: "_1"), width: fields.decode(forKey: "width", default: 100))
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

                nonisolated extension Attachment: EspalierModels.NormalizedModel, EspalierModels.Model, Swift.Hashable {

                }
                """)
    }

    @Test("a generic struct of models")
    func generic() {
        expectExpansion(
            of: """
                @Normalized struct Page<Item: Model & FieldValue> {
                    let id: String
                    let items: [Item]
                }
                """,
            is: """
                struct Page<Item: Model & FieldValue> {
                    let id: String
                    let items: [Item]

                    nonisolated var modelIdentifier: Swift.String? {
                        EspalierModels.ModelMembers.typeName(of: Self.self) + ":" + EspalierModels.ModelMembers.identifier(of: self.id)
                    }

                    nonisolated func map(_ transform: (any EspalierModels.Model) -> (any EspalierModels.Model)?) -> Page? {
                        guard let mapped0 = EspalierModels.ModelMembers.map(self.items, transform)
                        else {
                            return nil
                        }
                        var builder = Builder(self)
                        builder.items = mapped0
                        return Page(builder)
                    }

                    nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                        EspalierModels.ModelMembers.forEach(self.items, visit)
                    }

                    nonisolated static func == (a: Page, b: Page) -> Swift.Bool {
                        guard a.id == b.id else {
                            return false
                        }
                        guard EspalierModels.ModelMembers.areEqual(a.items, b.items) else {
                            return false
                        }
                        return true
                    }

                    nonisolated func hash(into hasher: inout Swift.Hasher) {
                        hasher.combine(self.id)
                        EspalierModels.ModelMembers.hash(self.items, into: &hasher)
                    }

                    nonisolated func merge(_ model: any EspalierModels.Model) -> any EspalierModels.Model {
                        if model is Page {
                            return model
                        }
                        guard let other = model as? any EspalierModels.ProjectedModel else {
                            return self
                        }
                        var builder = Builder(self)
                        EspalierModels.ModelMembers.take(&builder.id, named: "id", from: other)
                        EspalierModels.ModelMembers.take(&builder.items, named: "items", from: other)
                        return Page(builder)
                    }

                    nonisolated func storedValue(_ name: Swift.String) -> Any? {
                        switch name {
                        case "id":
                            return self.id as Any
                        case "items":
                            return self.items as Any
                        default:
                            return nil
                        }
                    }

                    nonisolated func encode(to encoder: inout EspalierRecords.RecordEncoder) throws {
                        encoder.expect(Self.self, fields: ["id", "items"])
                        try encoder.encode(self.id, forKey: "id")
                        try encoder.encode(self.items, forKey: "items")
                    }

                    nonisolated struct Builder: Swift.Sendable {
                        var id: String
                        var items: [Item]

                        init(_ model: Page) {
                            self.id = model.id
                            self.items = model.items
                        }

                        func build() -> Page {
                            return Page(self)
                        }
                    }

                    nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows -> Page {
                        var builder = Builder(self)
                        try change(&builder)
                        return Page(builder)
                    }
                }

                nonisolated extension Page: EspalierModels.NormalizedModel, EspalierModels.Model, EspalierModels.ProjectedModel, Swift.Hashable {
                    nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                        decoder.expect(Self.self, fields: ["id", "items"])
                        self.id = try decoder.decode(forKey: "id")
                        self.items = try decoder.decode(forKey: "items")
                    }

                    nonisolated init(_ builder: Builder) {
                        self.id = builder.id
                        self.items = builder.items
                    }
                }
                """)
    }

    @Test("existentials at any depth, read by the builder, which stands where the names mean the same")
    func existentials() {
        expectExpansion(
            of: """
                enum Feed {
                    @Normalized struct Entry {
                        let all: [String: [any Local]?]
                        let one: (any Local)?
                    }
                }
                """,
            is: """
                enum Feed {
                    struct Entry {
                        let all: [String: [any Local]?]
                        let one: (any Local)?

                        nonisolated var modelIdentifier: Swift.String? {
                            nil
                        }

                        nonisolated func map(_ transform: (any EspalierModels.Model) -> (any EspalierModels.Model)?) -> Entry? {
                            guard let mapped0 = EspalierModels.ModelMembers.map(self.all.mapValues { $0.map { $0.map { EspalierModels.ErasedModel<any Local>($0)
                                        }
                                    }
                                }, transform),
                                let mapped1 = EspalierModels.ModelMembers.map(self.one.map { EspalierModels.ErasedModel<any Local>($0)
                                }, transform)
                            else {
                                return nil
                            }
                            var builder = Builder(self)
                            builder.all = mapped0.mapValues {
                                $0.map {
                                    $0.map {
                                        $0.model
                                    }
                                }
                            }
                            builder.one = mapped1.map {
                                $0.model
                            }
                            return Entry(builder)
                        }

                        nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                            EspalierModels.ModelMembers.forEach(self.all.mapValues {
                                    $0.map {
                                        $0.map {
                                            EspalierModels.ErasedModel<any Local>($0)
                                        }
                                    }
                                }, visit)
                            EspalierModels.ModelMembers.forEach(self.one.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }, visit)
                        }

                        nonisolated static func == (a: Entry, b: Entry) -> Swift.Bool {
                            guard EspalierModels.ModelMembers.areEqual(a.all.mapValues { $0.map { $0.map { EspalierModels.ErasedModel<any Local>($0)
                                        }
                                    }
                                }, b.all.mapValues { $0.map { $0.map { EspalierModels.ErasedModel<any Local>($0)
                                        }
                                    }
                                }) else {
                                return false
                            }
                            guard EspalierModels.ModelMembers.areEqual(a.one.map { EspalierModels.ErasedModel<any Local>($0)
                                }, b.one.map { EspalierModels.ErasedModel<any Local>($0)
                                }) else {
                                return false
                            }
                            return true
                        }

                        nonisolated func hash(into hasher: inout Swift.Hasher) {
                            EspalierModels.ModelMembers.hash(self.all.mapValues {
                                    $0.map {
                                        $0.map {
                                            EspalierModels.ErasedModel<any Local>($0)
                                        }
                                    }
                                }, into: &hasher)
                            EspalierModels.ModelMembers.hash(self.one.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }, into: &hasher)
                        }

                        nonisolated func merge(_ model: any EspalierModels.Model) -> any EspalierModels.Model {
                            if model is Entry {
                                return model
                            }
                            guard let other = model as? any EspalierModels.ProjectedModel else {
                                return self
                            }
                            var builder = Builder(self)
                            EspalierModels.ModelMembers.take(&builder.all, named: "all", from: other)
                            EspalierModels.ModelMembers.take(&builder.one, named: "one", from: other)
                            return Entry(builder)
                        }

                        nonisolated func storedValue(_ name: Swift.String) -> Any? {
                            switch name {
                            case "all":
                                return self.all as Any
                            case "one":
                                return self.one as Any
                            default:
                                return nil
                            }
                        }

                        nonisolated func encode(to encoder: inout EspalierRecords.RecordEncoder) throws {
                            encoder.expect(Self.self, fields: ["all", "one"])
                            try encoder.encode(self.all.mapValues {
                                    $0.map {
                                        $0.map {
                                            EspalierModels.ErasedModel<any Local>($0)
                                        }
                                    }
                                }, forKey: "all")
                            try encoder.encode(self.one.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }, forKey: "one")
                        }

                        nonisolated struct Builder: Swift.Sendable {
                            var all: [String: [any Local]?]
                            var one: (any Local)?

                            init(_ model: Entry) {
                                self.all = model.all
                                self.one = model.one
                            }

                            func build() -> Entry {
                                return Entry(self)
                            }

                            fileprivate static func read_all(from decoder: inout EspalierRecords.RecordDecoder) throws -> [String: [any Local]?] {
                                return (try decoder.decode([String: [EspalierModels.ErasedModel<any Local>]?].self, forKey: "all")).mapValues {
                                    $0.map {
                                        $0.map {
                                            $0.model
                                        }
                                    }
                                }
                            }

                            fileprivate static func read_one(from decoder: inout EspalierRecords.RecordDecoder) throws -> (any Local)? {
                                return (try decoder.decode(EspalierModels.ErasedModel<any Local>?.self, forKey: "one")).map {
                                    $0.model
                                }
                            }
                        }

                        nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows -> Entry {
                            var builder = Builder(self)
                            try change(&builder)
                            return Entry(builder)
                        }
                    }
                }

                nonisolated extension Feed.Entry: EspalierModels.NormalizedModel, EspalierModels.Model, EspalierModels.ProjectedModel, Swift.Hashable {
                    nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                        decoder.expect(Self.self, fields: ["all", "one"])
                        self.all = try Builder.read_all(from: &decoder)
                        self.one = try Builder.read_one(from: &decoder)
                    }

                    nonisolated init(_ builder: Builder) {
                        self.all = builder.all
                        self.one = builder.one
                    }
                }
                """)
    }
}
#endif
