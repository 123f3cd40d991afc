package import EspalierRecords

/// A name of the index and the record it leads to.
package struct IndexEntry: Sendable, Hashable {
    package let nameSpace: NameSpace
    /// The whole of it, or its beginning: see `isWhole`.
    package let identifier: String
    /// 0, which is no record's, where the entry is damaged.
    package let handle: Handle
    /// `false` where the identifier is too long for a key and the record that has all of it can't
    /// be read.
    package let isWhole: Bool
    /// The key of the index where it does not hold the whole identifier: the same for the same
    /// name, read or not.
    package var longKey: [UInt8]?

    package static func == (a: IndexEntry, b: IndexEntry) -> Bool {
        a.handle == b.handle && a.nameSpace == b.nameSpace && a.isWhole == b.isWhole
            && Identifier(a.identifier) == Identifier(b.identifier)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(handle)
        hasher.combine(Identifier(identifier))
    }
}
