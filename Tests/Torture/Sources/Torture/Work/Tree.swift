import Espalier

/// A tree whose nodes carry the number of the write that stored them, so that a check recognises a
/// tree of nodes from different writes.
///
/// ```
///   T:0:3, version 17
///   ├── B:0:3:0, version 17 ── L:0:3:0:0 ... L:0:3:0:2, version 17
///   └── B:0:3:1, version 17 ── ...
/// ```
struct Tree: NormalizedModel, Hashable {
    var id: String
    var version: Int
    var branches: [Branch]

    var modelIdentifier: String? { id }

    /// Makes tree `number` of the worker `owner`, with all its nodes.
    init(owner: Int, number: Int, version: Int) {
        id = Self.identifier(owner, number)
        self.version = version
        branches = (0..<3).map { Branch(owner, number, $0, version: version) }
    }

    static func identifier(_ owner: Int, _ number: Int) -> String { "T:\(owner):\(number)" }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        version = try decoder.decode(forKey: "version")
        branches = try decoder.decode(forKey: "branches")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(version, forKey: "version")
        try encoder.encode(branches, forKey: "branches")
    }

    /// Compares the tree with the only one that was ever stored under its name and version.
    func verdict(owner: Int, number: Int) -> Verdict {
        let versions = Set(
            [version] + branches.map(\.version) + branches.flatMap { $0.leaves.map(\.version) })
        guard versions.count == 1 else {
            return .mixed("\(id) has nodes of versions \(versions.sorted())")
        }
        return self == Tree(owner: owner, number: number, version: version)
            ? .fine : .wrong("\(id) of version \(version) has a wrong value")
    }
}

struct Branch: NormalizedModel, Hashable {
    var id: String
    var version: Int
    var leaves: [Leaf]

    var modelIdentifier: String? { id }

    init(_ owner: Int, _ tree: Int, _ number: Int, version: Int) {
        id = "B:\(owner):\(tree):\(number)"
        self.version = version
        leaves = (0..<3).map { Leaf("L:\(owner):\(tree):\(number):\($0)", version: version) }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        version = try decoder.decode(forKey: "version")
        leaves = try decoder.decode(forKey: "leaves")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(version, forKey: "version")
        try encoder.encode(leaves, forKey: "leaves")
    }
}

struct Leaf: NormalizedModel, Hashable {
    var id: String
    var version: Int
    var text: String

    var modelIdentifier: String? { id }

    init(_ id: String, version: Int) {
        self.id = id
        self.version = version
        text = Self.text(id, version)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        version = try decoder.decode(forKey: "version")
        text = try decoder.decode(forKey: "text")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(version, forKey: "version")
        try encoder.encode(text, forKey: "text")
    }

    private static let words = [
        "wall", "branch", "pear", "cordon", "lattice", "prune", "graft", "blossom", "trellis",
        "sun",
        "root", "stem", "fan", "wire", "bud", "stake", "autumn", "quince", "shade", "garden",
    ]

    /// Text that dictionaries compress. One in 16 is longer than a page of LMDB.
    private static func text(_ id: String, _ version: Int) -> String {
        var random = Random(seed: version)
        for byte in id.utf8 { random = Random(seed: Int(byte), random.next()) }
        let count = random.below(16) == 0 ? 900 : random.below(40)
        return (0..<count).map { _ in words[random.below(words.count)] }.joined(separator: " ")
    }
}

/// The result of a check. Each case has an exit status of children.
enum Verdict: Equatable {
    case fine
    case wrong(String)
    case mixed(String)
    case lost(String)
    case unclean(String)
    case failed(String)

    static let wrongStatus: Int32 = 10
    static let mixedStatus: Int32 = 11
    static let lostStatus: Int32 = 12
    static let uncleanStatus: Int32 = 13
    static let failedStatus: Int32 = 14

    var status: Int32 {
        switch self {
        case .fine: 0
        case .wrong: Self.wrongStatus
        case .mixed: Self.mixedStatus
        case .lost: Self.lostStatus
        case .unclean: Self.uncleanStatus
        case .failed: Self.failedStatus
        }
    }

    var detail: String {
        switch self {
        case .fine: "fine"
        case .wrong(let text): "wrong: \(text)"
        case .mixed(let text): "mixed: \(text)"
        case .lost(let text): "lost: \(text)"
        case .unclean(let text): "unclean: \(text)"
        case .failed(let text): "failed: \(text)"
        }
    }
}
