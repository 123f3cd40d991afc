import EspalierModels
import EspalierRecords

/// A JSON object as a model: a node when it has an identifier, inline when not.
struct JSONNode: Sendable {
    /// One member of the object.
    struct Member: Sendable {
        let name: String
        let value: JSONTree
    }

    let modelIdentifier: String?
    /// What kind of thing it is; empty for one read from a cache, where it does not matter.
    let type: String
    /// In ascending order of the bytes of their names: the order of members in a document never
    /// makes another shape or another record.
    let members: [Member]

    init(identifier: String?, type: String, members: [Member]) {
        modelIdentifier = identifier
        self.type = type
        self.members = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension JSONNode: NormalizedModel {
    var projectionIdentifier: String { type }

    func encode(to encoder: inout RecordEncoder) throws {
        for member in members { try encoder.encode(member.value, forKey: member.name) }
    }

    /// Reads whatever fields the record has. A field whose record was deleted is null, and so is a
    /// reference back.
    init(from decoder: inout RecordDecoder) throws {
        var members: [Member] = []
        for name in try decoder.fieldNames() {
            // What is absent was never a member.
            guard try decoder.contains(name) else { continue }
            let value = try decoder.decode(JSONTree?.self, forKey: name)
            members.append(Member(name: name, value: value ?? .null))
        }
        modelIdentifier = nil
        type = ""
        self.members = members
    }
}
