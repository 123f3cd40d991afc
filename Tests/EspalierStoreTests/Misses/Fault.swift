import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// The ways in which the record of a person can be wrong.
enum Fault: CaseIterable {
    case check, truncated, shape, dictionary, malformed, missingValue, newer, dangling, lost,
        mismatch, missingField

    /// Returns the reason of the miss when a read finds the fault in the record `p:1`. `place` is
    /// the path of the reference to the record.
    func reason(at place: String) -> MissReason {
        switch self {
        case .check: .damaged(path: place, detail: "the check does not match")
        case .truncated: .damaged(path: place, detail: "the bytes end early")
        case .shape: .damaged(path: place, detail: "shape 9999 is not in the table")
        case .dictionary: .damaged(path: place, detail: "dictionary 9999 is not in the table")
        case .malformed: .damaged(path: "p:1.name", detail: "an unknown kind of value")
        case .missingValue: .damaged(path: "p:1.name", detail: "the bytes end early")
        case .newer: .newerVersion(path: place, version: 3)
        case .dangling: .dangling(path: place)
        case .lost: .lost(path: place)
        case .mismatch: .undecodable(path: "p:1.name", detail: "expected a String, found integer")
        case .missingField:
            .incomplete([MissingField(identifier: "p:1", type: "Person", path: "name")])
        }
    }

    /// Whether the next commit makes the record lost.
    var isDamage: Bool {
        switch self {
        case .check, .truncated, .shape, .dictionary, .malformed, .missingValue: true
        case .newer, .dangling, .lost, .mismatch, .missingField: false
        }
    }
}

extension NormalizedCache {
    /// Replaces the record of `p:1` by one with `fault`, without adjusting any counts of records.
    func forge(_ fault: Fault) throws {
        let handle = try present(handle("p:1"))
        let shape = Shape(type: "Person", fields: ["id", "name"])
        switch fault {
        case .check: try damage(handle)
        case .truncated: try tamperWithFrame(of: handle) { $0 = $0.map { Array($0.prefix(9)) } }
        case .shape: try replaceRecord(handle, by: [1, 0x8F, 0x4E, 0], .number(9_999, shape))
        case .dictionary:
            try tamperWithFrame(of: handle) { $0 = $0.map { [0x8F, 0x4E] + $0.dropFirst() } }
        case .malformed: try replace(handle, name: [0xD4, 0x63, 0])
        case .missingValue: try replace(handle, name: [])
        case .mismatch: try replace(handle, name: [7])
        case .missingField: try replace(handle, name: nil)
        case .dangling: try removeBytes(of: handle)
        case .lost:
            try removeBytes(of: handle)
            try tamper { transaction, keyspaces in
                var entry = try transaction.state(keyspaces, of: handle) ?? .default
                entry.flags = .lost
                try transaction.put(entry, of: handle, keyspaces)
            }
        case .newer: try makeNewer(handle)
        }
    }

    /// Gives the container of a record a later version of the format.
    func makeNewer(_ handle: Handle) throws {
        let generation = try generation
        try tamper { transaction, keyspaces in
            try transaction.isolate(handle, in: generation)
            let container = try transaction.container(around: handle, keyspaces)
            // Each frame gets a container of its own.
            var frames = container.frames
            try transaction.store([], over: container.key, keyspaces)
            for frame in frames { try transaction.store([frame], over: frame.first, keyspaces) }
            frames.removeAll()
            let key = handle.rawValue
            guard var bytes = try transaction.value(keyspaces.nodes, key) else { throw Missing() }
            bytes[0] = Chunks.version + 1
            try transaction.put(keyspaces.nodes, key, bytes)
        }
    }

    /// Replaces a person's record by an intact one. `name` holds the bytes of the field's value,
    /// and is nil if the record lacks the field.
    private func replace(_ handle: Handle, name: [UInt8]?) throws {
        var values = ByteWriter()
        values.append(value: "p:1")
        values.append(name ?? [])
        let shape = RecordLayout.ShapeReference.own(
            Shape(type: "Person", fields: name == nil ? ["id"] : ["id", "name"]))
        let record = RecordLayout.build(
            handle: handle, nameSpace: .node, shape: shape, children: [], identifier: "p:1",
            values: values.bytes)
        try replaceRecord(handle, by: record, shape)
    }
}
