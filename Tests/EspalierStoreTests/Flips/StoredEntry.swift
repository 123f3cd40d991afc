import EspalierLMDB

/// A stored key and value.
struct StoredEntry {
    let keyspace: Keyspace
    let key: [UInt8]
    let value: [UInt8]

    /// Flips a bit. The bits of the key come before those of the value.
    func flipped(keyBit: Int) -> StoredEntry {
        StoredEntry(keyspace: keyspace, key: Self.flip(key, keyBit), value: value)
    }

    func flipped(valueBit: Int) -> StoredEntry {
        StoredEntry(keyspace: keyspace, key: key, value: Self.flip(value, valueBit))
    }

    func with(value: [UInt8]) -> StoredEntry {
        StoredEntry(keyspace: keyspace, key: key, value: value)
    }

    private static func flip(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
        var bytes = bytes
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
    }

    /// Replaces this entry by `changed`, and returns the entry that was under the key of that.
    func replace(with changed: StoredEntry, in transaction: inout WriteTransaction) throws
        -> [UInt8]?
    {
        guard changed.key != key else {
            try transaction.put(keyspace, key, changed.value)
            return nil
        }
        let covered = try transaction.value(keyspace, changed.key)
        try transaction.delete(keyspace, key)
        try transaction.put(keyspace, changed.key, changed.value)
        return covered
    }

    /// Restores this entry in place of `changed`.
    func restore(
        from changed: StoredEntry, covered: [UInt8]?, in transaction: inout WriteTransaction
    ) throws {
        if changed.key != key {
            if let covered {
                try transaction.put(keyspace, changed.key, covered)
            } else {
                try transaction.delete(keyspace, changed.key)
            }
        }
        try transaction.put(keyspace, key, value)
    }
}
