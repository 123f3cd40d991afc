#if Macros
import Testing

@Suite("The expansion of a final class")
struct FinalClassTests {
    private let source = """
        @Normalized final class Node {
            let id: Int
            let parent: Node?
        }
        """

    private let expansion = """
        final class Node {
            let id: Int
            let parent: Node?

            nonisolated var modelIdentifier: Swift.String? {
                "Node:" + EspalierModels.ModelMembers.identifier(of: self.id)
            }

            nonisolated static var identifierPrefix: Swift.String {
                "Node:"
            }

            nonisolated static func modelIdentifier(id: Int) -> Swift.String {
                "Node:" + EspalierModels.ModelMembers.identifier(of: id)
            }

            nonisolated var projectionIdentifier: Swift.String {
                "Node"
            }

            nonisolated func map(_ transform: (any EspalierModels.Model) -> (any \
        EspalierModels.Model)?) -> Node? {
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

            @_implements(Swift.Equatable, ==(_:_:))
            nonisolated static func isSame(_ a: Node, _ b: Node) -> Swift.Bool {
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

        nonisolated extension Node: EspalierModels.NormalizedModel, EspalierModels.Model, \
        EspalierModels.ProjectedModel, EspalierRecords.NodeModel, Swift.Hashable {

        }
        """

    @Test("A final class gets all its initializers in its body, with a memberwise one")
    func finalClass() { expectExpansion(of: source, is: expansion) }
}
#endif
