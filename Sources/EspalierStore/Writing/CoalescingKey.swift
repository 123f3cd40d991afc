import EspalierRecords

/// Names an entry and the type that writes it: of two writes with one key the later makes the
/// earlier superfluous.
struct CoalescingKey: Hashable, Sendable {
    private let nameSpace: NameSpace
    private let name: Identifier
    private let projection: Identifier

    init(nameSpace: NameSpace, name: String, projection: String) {
        self.nameSpace = nameSpace
        self.name = Identifier(name)
        self.projection = Identifier(projection)
    }
}
