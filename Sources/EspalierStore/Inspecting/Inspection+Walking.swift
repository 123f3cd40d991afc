import EspalierLMDB
package import EspalierRecords

extension Inspection {
    /// Visits the entries of a name space in the order of their bytes, those too long for a key
    /// last, until `body` returns `false`. With a prefix costs only what is found.
    ///
    /// Damaged entries are visited too, and those of damaged records: `record(of:)` tells.
    package func forEachEntry(
        of nameSpace: NameSpace, startingWith prefix: String = "",
        _ body: (IndexEntry) throws -> Bool
    ) throws {
        for start in IndexKey.ranges(nameSpace, startingWith: prefix) {
            var goesOn = true
            try snapshot.forEach(in: keyspaces.index, from: start) { key, value in
                let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                guard bytes.starts(with: start) else { return false }
                let entry = try entry(key: bytes, nameSpace, value)
                // The rest of the prefix is not known to be wrong where the identifier is cut off.
                guard !entry.isWhole || entry.identifier.utf8.starts(with: prefix.utf8) else {
                    return true
                }
                goesOn = try body(entry)
                return goesOn
            }
            guard goesOn else { return }
        }
    }

    private func entry(key: [UInt8], _ nameSpace: NameSpace, _ value: RawSpan) throws -> IndexEntry
    {
        let handle =
            value.byteCount == 8 ? try Handle(stored: value) : Handle(0)
        if key[0] != IndexKey.longMark {
            let identifier = String(decoding: key.dropFirst(), as: UTF8.self)
            return IndexEntry(
                nameSpace: nameSpace, identifier: identifier, handle: handle, isWhole: true)
        }
        // Only the record has all of it, if it is the one.
        if case .record(let record) = try record(handle),
            IndexKey.bytes(nameSpace, record.identifier) == key
        {
            return IndexEntry(
                nameSpace: nameSpace, identifier: record.identifier, handle: handle, isWhole: true,
                longKey: key)
        }
        return IndexEntry(
            nameSpace: nameSpace, identifier: IndexKey.beginning(ofLong: key), handle: handle,
            isWhole: false,
            longKey: key)
    }

    /// Visits every record, segments included, in the order of handles until `body` returns
    /// `false`.
    package func forEachRecord(_ body: (Handle, StoredRecord) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.nodes) { key, _ in
            // The keys of further chunks are longer.
            guard key.byteCount == 8 else { return true }
            let handle = try Handle(stored: key)
            // What is dying is there in part, and nothing leads to it.
            if (try? state(of: handle))??.flags.contains(.pendingRemoval) == true { return true }
            return try body(handle, try record(handle))
        }
    }

    /// Visits the roots and the records on cycles, least recently used first, until `body` returns
    /// `false`.
    package func forEachRoot(_ body: (Handle, Stamp) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            if pair.first == 0,
                (try? state(of: Handle(pair.second)))??.flags.contains(.pendingRemoval) == true
            {
                return true
            }
            return try body(Handle(pair.second), Stamp(pair.first))
        }
    }
}
