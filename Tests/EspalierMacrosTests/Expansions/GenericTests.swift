#if Macros
import Testing

@Suite("The expansion of a generic struct")
struct GenericTests {
    private let source = """
        @Normalized struct Page<Item: Model & FieldValue> {
            let id: String
            let items: [Item]
        }
        """

    private let expansion = """
        struct Page<Item: Model & FieldValue> {
            let id: String
            let items: [Item]

            nonisolated var modelIdentifier: Swift.String? {
                EspalierModels.ModelMembers.typeName(of: Self.self) + ":" + \
        EspalierModels.ModelMembers.identifier(of: self.id)
            }

            nonisolated static var identifierPrefix: Swift.String {
                EspalierModels.ModelMembers.typeName(of: Self.self) + ":"
            }

            nonisolated static func modelIdentifier(id: String) -> Swift.String {
                EspalierModels.ModelMembers.typeName(of: Self.self) + ":" + \
        EspalierModels.ModelMembers.identifier(of: id)
            }

            nonisolated func map(_ transform: (any EspalierModels.Model) -> (any \
        EspalierModels.Model)?) -> Page? {
                guard let mapped0 = EspalierModels.ModelMembers.mapDynamically(self.items, \
        transform)
                else {
                    return nil
                }
                var builder = Builder(self)
                builder.items = mapped0
                return Page(builder)
            }

            nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                EspalierModels.ModelMembers.forEachDynamically(self.items, visit)
            }

            @_implements(Swift.Equatable, ==(_:_:))
            nonisolated static func isSame(_ a: Page, _ b: Page) -> Swift.Bool {
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

            nonisolated func hasSameEncoding(as other: Page) -> Swift.Bool {
                guard EspalierModels.ModelMembers.haveSameEncoding(self.id, other.id) else {
                    return false
                }
                guard EspalierModels.ModelMembers.haveSameEncoding(self.items, other.items) else {
                    return false
                }
                return true
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

                fileprivate static func read_id(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> String {
                    return try decoder.decode(forKey: "id")
                }

                fileprivate static func read_items(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> [Item] {
                    return try decoder.decode(forKey: "items")
                }
            }

            nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows -> Page {
                var builder = Builder(self)
                try change(&builder)
                return Page(builder)
            }
        }

        nonisolated extension Page: EspalierModels.NormalizedModel, EspalierModels.Model, \
        EspalierModels.ProjectedModel, EspalierRecords.NodeModel, Swift.Hashable {
            nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                decoder.expect(Self.self, fields: ["id", "items"])
                let value0 = try Builder.read_id(from: &decoder)
                let value1 = try Builder.read_items(from: &decoder)
                self.id = value0
                self.items = value1
            }

            nonisolated init(_ builder: Builder) {
                self.id = builder.id
                self.items = builder.items
            }
        }
        """

    @Test("A generic struct looks for children at run time")
    func generic() { expectExpansion(of: source, is: expansion) }

    @Test(
        "Children are looked for at run time wherever a generic parameter may be involved",
        arguments: [
            "@Normalized struct Page<Item: Model> { let item: Item }",
            "@Normalized struct Page<S: Section> { let item: [S.Item] }",
            "@Normalized struct Page<S: Section> { typealias Item = S.Item; let item: Item }",
            "struct Feed<T> { @Normalized struct Page { let item: Items } }",
            "struct Feed<T> { enum Pages { @Normalized struct Page { let item: Items } } }",
            "extension Feed { @Normalized struct Page { let item: Item } }",
            "extension Feed { enum Pages { @Normalized final class Page { let item: Item } } }",
        ])
    func dynamic(source: String) {
        expectExpansion(
            of: source, has: "mapDynamically(self.item, transform)",
            "forEachDynamically(self.item, visit)",
            without: ["ModelMembers.map(", "ModelMembers.forEach("])
    }

    @Test("Associated values are looked at at run time too, except for scalars")
    func dynamicPayloads() {
        expectExpansion(
            of: "extension Feed { @Normalized enum Entry { case item(Item, Int) } }",
            has: "mapDynamically(_0, transform)",
            "forEachDynamically(_0, visit)", without: ["_1, transform"])
    }
}
#endif
