import ArgumentParser
import EspalierRecords

/// What kinds of records are listed.
enum EntryKind: String, Sendable, CaseIterable, ExpressibleByArgument {
    case node, key, collection, all

    var nameSpaces: [NameSpace] {
        switch self {
        case .node: [.node]
        case .key: [.key]
        case .collection: [.collection]
        case .all: [.node, .key, .collection]
        }
    }
}
