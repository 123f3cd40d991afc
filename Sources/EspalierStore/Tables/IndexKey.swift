import EspalierLMDB
package import EspalierRecords

/// The name of a record, compared by its bytes.
struct RecordName: Hashable, Sendable {
    let nameSpace: NameSpace
    let identifier: Identifier

    init(_ nameSpace: NameSpace, _ identifier: String) {
        self.nameSpace = nameSpace
        self.identifier = Identifier(identifier)
    }
}

/// Makes the keys of the index. `Keyspaces.indexKey` hashes them in an encrypted file.
///
///     key  = name space, identifier                             if that fits LMDB's 511 bytes
///     long = 4, name space, first 493 bytes, 128-bit hash of the rest
///
/// Keys hold the identifiers themselves. New objects often have similar identifiers, whose names
/// then stand in few groups: with hashes, a write took 1.6 to 2 times as long. If two long
/// identifiers have the same hash, the record tells them apart, because it holds its identifier.
package enum IndexKey {
    package static let longMark: UInt8 = 4
    private static let hashSize = 16
    private static let longPrefixSize = Environment.maximumKeySize - 2 - hashSize

    package static func bytes(_ nameSpace: NameSpace, _ identifier: String) -> [UInt8] {
        var writer = ByteWriter(
            capacity: min(identifier.utf8.count + 1, Environment.maximumKeySize))
        write(nameSpace, identifier, to: &writer)
        return writer.bytes
    }

    /// Replaces the content of `writer` by a key.
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

    /// Whether the key holds a hash in place of the end of the identifier.
    static func isLong(_ identifier: String) -> Bool {
        identifier.utf8.count + 1 > Environment.maximumKeySize
    }

    /// Returns the prefixes of all keys whose identifiers start with `prefix`.
    package static func ranges(_ nameSpace: NameSpace, startingWith prefix: String) -> [[UInt8]] {
        let prefix = [UInt8](prefix.utf8)
        let long = [longMark, nameSpace.rawValue] + prefix.prefix(longPrefixSize)
        // Every identifier that is longer than that has a long key.
        guard prefix.count < Environment.maximumKeySize else { return [long] }
        return [[nameSpace.rawValue] + prefix, long]
    }

    /// Returns the part of an identifier that its key, or the beginning of its key, holds, up to
    /// the last whole character.
    package static func beginning(of key: [UInt8]) -> String {
        var bytes = key.dropFirst(key.first == longMark ? 2 : 1).prefix(longPrefixSize)
        // The part may end with up to three bytes of a character of four.
        for _ in 0..<3 {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
