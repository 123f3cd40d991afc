import EspalierLMDB
import EspalierRecords

/// The one function that makes keys of the index.
///
///     key  = name space, identifier                             where that fits LMDB's 511 bytes
///     long = 4, name space, first 493 bytes, 128-bit hash of the rest
///
/// Identifiers stand in the clear, so that those of new objects, which are near each other, dirty
/// few pages; by hash they took 1.6 to 2 times as long per written feed. Two long identifiers with
/// one hash are told apart by the record, which names itself.
enum IndexKey {
    static let longMark: UInt8 = 4
    private static let hashSize = 16
    private static let longPrefixSize = Environment.maximumKeySize - 2 - hashSize

    static func bytes(_ nameSpace: NameSpace, _ identifier: String) -> [UInt8] {
        var writer = ByteWriter(
            capacity: min(identifier.utf8.count + 1, Environment.maximumKeySize))
        write(nameSpace, identifier, to: &writer)
        return writer.bytes
    }

    /// The same in place of what `writer` has.
    static func write(_ nameSpace: NameSpace, _ identifier: String, to writer: inout ByteWriter) {
        writer.removeAll()
        guard isLong(identifier) else {
            writer.append(nameSpace.rawValue)
            return writer.append(utf8: identifier)
        }
        let utf8 = identifier.utf8
        let rest = [UInt8](utf8.dropFirst(longPrefixSize))
        writer.append(longMark)
        writer.append(nameSpace.rawValue)
        writer.append([UInt8](utf8.prefix(longPrefixSize)))
        for seed: UInt64 in [0, 0x9E37_79B9_7F4A_7C15] {
            writer.append(integer: XXHash64.hash(rest, seed: seed))
        }
    }

    /// Whether the key has a hash of the identifier's end in place of it.
    static func isLong(_ identifier: String) -> Bool {
        identifier.utf8.count + 1 > Environment.maximumKeySize
    }

    /// The beginnings of all keys of identifiers with `prefix`: those in the clear, and the long
    /// ones.
    static func ranges(_ nameSpace: NameSpace, startingWith prefix: String) -> [[UInt8]] {
        let prefix = [UInt8](prefix.utf8)
        let long = [longMark, nameSpace.rawValue] + prefix.prefix(longPrefixSize)
        // No identifier in the clear is longer.
        guard prefix.count < Environment.maximumKeySize else { return [long] }
        return [[nameSpace.rawValue] + prefix, long]
    }

    /// What the key of a long identifier has of it, to the last whole character.
    static func beginning(ofLong key: [UInt8]) -> String {
        var bytes = key.dropFirst(2).prefix(longPrefixSize)
        // A character that was cut through is at most three bytes of one of four.
        for _ in 0..<3 {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
