import EspalierModels
import EspalierRecords

@testable import EspalierStore

/// The result of a read.
enum Seen: Hashable {
    case hit(AnyHashable)
    case miss(String)

    init<Value, View: Hashable>(_ outcome: ReadOutcome<Value>, _ view: (Value) -> View) {
        switch outcome {
        case .hit(let hit): self = .hit(AnyHashable(view(hit.value)))
        case .miss(let reason): self = .miss(reason.name)
        }
    }
}

/// The effect of a flip on reads.
enum Verdict: Hashable {
    case unharmed
    case miss(String)
    case wrong(String)

    init(_ seen: Seen, expected: Seen, of name: String) {
        switch (seen, expected) {
        case _ where seen == expected: self = .unharmed
        case (.miss, .miss): self = .unharmed
        case (.miss(let reason), _): self = .miss(reason)
        case (.hit(let value), _): self = .wrong("\(name) is \(value) instead of \(expected)")
        }
    }
}

/// Reads one entry with a peek, so that the cache does not act on damage that it finds.
// Unchecked: tests read on one thread.
struct Probe: @unchecked Sendable {
    let nameSpace: NameSpace
    let identifier: String
    private let look: (NormalizedCache, String, Consistency) -> Seen
    /// Reads the entry with a touch, so that the writer acts on damage that it finds.
    let use: (NormalizedCache) -> Void
    /// Copies the entry from one cache into another.
    let copy: (_ source: NormalizedCache, _ target: NormalizedCache) -> WriteTicket?
    var expected = Seen.miss("not read yet")

    func read(
        _ cache: NormalizedCache, as identifier: String? = nil,
        _ consistency: Consistency = .snapshot
    ) -> Seen {
        look(cache, identifier ?? self.identifier, consistency)
    }

    func verdict(_ cache: NormalizedCache, _ consistency: Consistency = .snapshot) -> Verdict {
        Verdict(read(cache, consistency), expected: expected, of: "\(nameSpace) \(identifier)")
    }

    static func node<Model: IdentifiedModel, View: Hashable>(
        _ type: Model.Type, _ identifier: String, _ view: @escaping (Model) -> View
    ) -> Probe {
        Probe(nameSpace: .node, identifier: identifier) {
            Seen($0.readOutcome(type, $1, consistency: $2, access: .peek), view)
        } use: {
            _ = $0.readOutcome(type, identifier)
        } copy: { source, target in
            source.read(type, identifier, access: .peek).map { target.set($0) }
        }
    }

    static func node<Model: IdentifiedModel & Hashable>(_ type: Model.Type, _ identifier: String)
        -> Probe
    {
        node(type, identifier) { $0 }
    }

    static func key<Model: IdentifiedModel & Hashable>(_ type: Model.Type, _ key: String) -> Probe {
        Probe(nameSpace: .key, identifier: key) {
            Seen($0.modelOutcome(type, forKey: $1, consistency: $2, access: .peek)) { $0 }
        } use: {
            _ = $0.modelOutcome(type, forKey: key)
        } copy: { source, target in
            source.modelOutcome(type, forKey: key, access: .peek).value.map {
                target.setModel($0, forKey: key)
            }
        }
    }

    static func collection<Model: IdentifiedModel & Hashable>(_ type: Model.Type, _ key: String)
        -> Probe
    {
        Probe(nameSpace: .collection, identifier: key) {
            Seen($0.collectionOutcome(of: type, forKey: $1, consistency: $2, access: .peek)) { $0 }
        } use: {
            _ = $0.collectionOutcome(of: type, forKey: key)
        } copy: { source, target in
            source.collectionOutcome(of: type, forKey: key, access: .peek).value.map {
                target.setCollection($0, forKey: key)
            }
        }
    }

    private init(
        nameSpace: NameSpace, identifier: String,
        _ look: @escaping (NormalizedCache, String, Consistency) -> Seen,
        use: @escaping (NormalizedCache) -> Void,
        copy: @escaping (NormalizedCache, NormalizedCache) -> WriteTicket?
    ) {
        self.nameSpace = nameSpace
        self.identifier = identifier
        self.look = look
        self.use = use
        self.copy = copy
    }
}
