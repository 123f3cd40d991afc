import EspalierLMDB
import EspalierRecords
package import EspalierStore

/// Converts stamps to ages: how long ago each was given out.
package struct AccessAges: Sendable {
    private let timeline: Timeline
    private let now = Timeline.currentSecond

    init(_ timeline: Timeline) { self.timeline = timeline }

    /// Returns the age of a stamp, to the second; nil if it is not known, or for a record that was
    /// never accessed.
    package func age(of stamp: Stamp) -> Duration? {
        timeline.age(of: stamp, at: now).map { .seconds($0) }
    }
}

// Two things keep records in the cache: recent accesses and pins.
extension Inspection {
    /// The ages of stamps, as of the snapshot.
    package var accessAges: AccessAges {
        get throws { AccessAges(try snapshot.lifetimeCounters(keyspaces).timeline) }
    }

    /// The pinned entries. A long identifier is cut short if its record can't be read; in an
    /// encrypted cache it is not known.
    package var pins: [IndexEntry] {
        get throws {
            var pins: [IndexEntry] = []
            try snapshot.forEach(in: keyspaces.pins) { key, value in
                let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                let handle =
                    value.byteCount == 8 ? (try? Handle(stored: value)) ?? Handle(0) : Handle(0)
                let key = IndexEntryKey(bytes: bytes, isWhole: true, handle: handle)
                guard !keyspaces.hidesNames else {
                    pins.append(try namedEntry(key) ?? Self.namelessEntry(handle))
                    return true
                }
                let byte = bytes.dropFirst(bytes.first == IndexKey.longMark ? 1 : 0).first
                guard let nameSpace = byte.flatMap(NameSpace.init(rawValue:)) else { return true }
                pins.append(try entry(key, nameSpace))
                return true
            }
            return pins
        }
    }

    /// An upper bound of the bytes of pinned records, which may come to half the budget.
    package var pinnedBytes: ByteCount {
        get throws { ByteCount(Int(clamping: try snapshot.counters(keyspaces).pinnedBytes)) }
    }

    /// Returns the number and the bytes of the records that pins keep in the cache.
    ///
    /// - Complexity: A look-up for each of these records.
    package func pinnedRecords() throws -> (count: Int, bytes: ByteCount) {
        var seen: Set<Handle> = []
        var bytes = 0
        var open = try pins.map(\.handle)
        while let handle = open.popLast() {
            guard !seen.contains(handle), case .record(let record) = try record(handle) else {
                continue
            }
            seen.insert(handle)
            bytes += record.storedByteCount
            open += record.children
        }
        return (seen.count, ByteCount(bytes))
    }
}
