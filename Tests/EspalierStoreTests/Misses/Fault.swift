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
        case .newer: .newerVersion(path: place, version: 2)
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
    /// Replaces the record of `p:1` by one with `fault`, without adjusting any counts.
    func forge(_ fault: Fault) throws {
        guard let handle = try handle("p:1") else { throw Missing() }
        try tamper { transaction, keyspaces in
            guard var bytes = try transaction.value(keyspaces.nodes, handle.rawValue) else {
                throw Missing()
            }
            switch fault {
            case .check: bytes[bytes.count / 2] ^= 0x10
            case .truncated: bytes = Array(bytes[..<2])
            case .shape: bytes = Self.head(shape: 9_999, dictionary: 0, of: handle)
            case .dictionary: bytes = Self.head(shape: 0, dictionary: 9_999, of: handle)
            case .malformed: bytes = Self.person(at: handle, name: [0xD4, 0x63, 0])
            case .missingValue: bytes = Self.person(at: handle, name: [])
            case .newer: bytes[0] = 2
            case .mismatch: bytes = Self.person(at: handle, name: [7])
            case .missingField: bytes = Self.person(at: handle, name: nil)
            case .dangling, .lost:
                try transaction.delete(keyspaces.nodes, handle.rawValue)
                guard fault == .lost else { return }
                var entry = try transaction.state(keyspaces, of: handle) ?? .default
                entry.flags = .lost
                return try transaction.put(
                    keyspaces.state, handle.rawValue, entry.bytes(for: handle))
            }
            try transaction.put(keyspaces.nodes, handle.rawValue, bytes)
        }
    }

    /// Returns a person's record with a matching check. `name` holds the bytes of the field's
    /// value, and is nil if the record lacks the field.
    private static func person(at handle: Handle, name: [UInt8]?) -> [UInt8] {
        var values = ByteWriter()
        values.append(value: "p:1")
        values.append(name ?? [])
        return RecordLayout.build(
            handle: handle, nameSpace: .node,
            shape: .own(Shape(type: "Person", fields: name == nil ? ["id"] : ["id", "name"])),
            children: [],
            payload: Record.payload(identifier: "p:1", values: values.bytes))
    }

    private static func head(shape: UInt64, dictionary: UInt64, of handle: Handle) -> [UInt8] {
        var writer = ByteWriter()
        writer.append([RecordLayout.version, NameSpace.node.rawValue])
        writer.append(varint: shape)
        writer.append(varint: dictionary)
        writer.append(varint: 0)
        writer.append(value: "p:1")
        let check = writer.check(
            seed: RecordLayout.seed(handle: handle, shape: Shape.none.fingerprint))
        writer.append(integer: check)
        return writer.bytes
    }
}
