import EspalierLMDB
import EspalierRecords

/// One group of the index as it is stored: the names of some hundred records in ascending order,
/// each as its difference from the name before it.
///
///     group    = count of intervals, base, starts, intervals, check
///     interval = one to sixteen entries
///     entry    = head, [more], [more], new bytes, handle
///     head     = 4 bits: bytes of the entry before that are dropped
///                1 bit: the entry is a whole name      3 bits: new bytes
///
/// The first entry of an interval is relative to the key of the group and to `base`, so a search
/// is one over the intervals and one through sixteen entries. `docs/FORMAT.md` has the details.
///
/// A search compares front-coded entries without putting them together, as follows. All entries
/// before the wanted name have been seen to precede it, and the last of them has `common` bytes in
/// common with it. An entry that shares more than `common` bytes with the one before precedes the
/// name for the same reason; one that shares less follows it; only one that shares exactly
/// `common` bytes has to be compared, and only from there on.
///
/// Valid as long as the bytes that it was made from.
@safe
struct IndexGroup {
    private let key: UnsafeRawBufferPointer
    private let bytes: UnsafeRawBufferPointer
    let intervalCount: Int
    fileprivate let base: UInt64
    /// Where the table of the starts of intervals begins.
    private let table: Int
    /// Where the first interval begins.
    private let body: Int
    /// Where the check begins.
    private let end: Int

    static let entriesOfInterval = 16
    /// The key of the first group, which precedes all names.
    static let lowestKey: [UInt8] = [0]

    /// What a search has found.
    struct Match: Equatable {
        let handle: Handle
        /// Whether the entry is the whole name. If not, the record says whether it is the right
        /// one.
        let isWhole: Bool
    }

    /// Reads the beginning of a group. Does not verify the check: a search that is led astray by
    /// damage ends at a record of another name.
    ///
    /// - Throws: A `FormatError` if the bytes are too few.
    init(lentKey key: RawSpan, value: RawSpan) throws(FormatError) {
        unsafe self.key = key.withUnsafeBytes { unsafe $0 }
        unsafe bytes = value.withUnsafeBytes { unsafe $0 }
        var reader = ByteReader(lent: value)
        intervalCount = try reader.count(ofAtLeast: 3)
        base = try reader.varint()
        table = reader.position
        end = value.byteCount - 8
        body = table + 2 * (intervalCount - 1)
        guard intervalCount > 0, body < end else { throw .truncated }
    }

    /// Runs `body` with the group that has these bytes.
    static func reading<R>(
        _ key: [UInt8], _ value: [UInt8], _ body: (IndexGroup) throws(FormatError) -> R
    ) throws(FormatError) -> R {
        // The group points into both arrays.
        defer { withExtendedLifetime((key, value)) {} }
        return try body(try unsafe IndexGroup(lentKey: key.span.bytes, value: value.span.bytes))
    }

    /// Verifies the check.
    ///
    /// - Throws: `FormatError.checkFailed` if it is not that of these bytes under this key.
    func verify() throws(FormatError) {
        let seed = unsafe XXHash64.hash(key, seed: 0)
        _ = unsafe try ByteReader(bytes).verifiedEnd(seed: seed)
    }

    // MARK: - Search

    /// Returns the entry that matches the name of `name`; nil if there is none.
    ///
    /// - Throws: A `FormatError` if the bytes break the format.
    /// - Complexity: O(log *n*) in the entries of the group. Allocates nothing.
    func search(_ name: [UInt8]) throws(FormatError) -> Match? {
        try unsafe name.span.bytes.withUnsafeBytes { (name) throws(FormatError) -> Match? in
            unsafe try search(name)
        }
    }

    private func search(_ name: UnsafeRawBufferPointer) throws(FormatError) -> Match? {
        let shared = unsafe commonCount(key, 0, name, 0)
        let interval = unsafe try interval(of: name, common: shared)
        var position = try start(interval)
        let limit = try limit(interval)
        var (count, handle, common) = unsafe (key.count, base, shared)
        while position < limit {
            let entry = try entry(at: position, before: count, handle)
            if entry.shared < common { return nil }
            if entry.shared == common {
                common += unsafe commonCount(bytes, entry.suffix, name, common)
                common = min(common, entry.count)
                if common == entry.count {
                    if !entry.isWhole || name.count == common {
                        return Match(handle: Handle(entry.handle), isWhole: entry.isWhole)
                    }
                } else {
                    guard common < name.count else { return nil }
                    let byte = unsafe bytes[entry.suffix + common - entry.shared]
                    if unsafe byte > name[common] { return nil }
                }
            }
            (count, handle, position) = (entry.count, entry.handle, entry.next)
        }
        return nil
    }

    /// Returns the interval that holds a name if the group does: the last one whose first entry
    /// does not follow it.
    ///
    /// - Parameter lowest: An interval that is not behind it: that of a name before.
    func interval(of name: [UInt8], from lowest: Int) throws(FormatError) -> Int {
        try unsafe name.span.bytes.withUnsafeBytes { (name) throws(FormatError) -> Int in
            let common = unsafe commonCount(key, 0, name, 0)
            guard lowest + 1 < intervalCount,
                unsafe try !follows(interval: lowest + 1, name, common: common)
            else { return lowest }
            return unsafe try interval(of: name, from: lowest + 1, common: common)
        }
    }

    @inline(__always)
    private func interval(
        of name: UnsafeRawBufferPointer, from lowest: Int = 0, common: Int
    ) throws(FormatError) -> Int {
        var (low, high) = (lowest, intervalCount - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if unsafe try follows(interval: middle, name, common: common) {
                high = middle - 1
            } else {
                low = middle
            }
        }
        return low
    }

    /// Returns whether the first entry of an interval follows a name.
    @inline(__always)
    private func follows(
        interval: Int, _ name: UnsafeRawBufferPointer, common: Int
    ) throws(FormatError) -> Bool {
        let first = unsafe try entry(at: start(interval), before: key.count, base)
        return unsafe follows(first, name, common: common)
    }

    /// Returns whether the first entry of an interval follows a name. `common` is the number of
    /// bytes that the key of the group has in common with the name.
    private func follows(
        _ entry: StoredEntry, _ name: UnsafeRawBufferPointer, common: Int
    ) -> Bool {
        guard entry.shared == common else { return entry.shared < common }
        let count = entry.count - entry.shared
        let more = min(unsafe commonCount(bytes, entry.suffix, name, common), count)
        guard more < count else { return false }
        guard common + more < name.count else { return true }
        return unsafe bytes[entry.suffix + more] > name[common + more]
    }

    private struct StoredEntry {
        /// The number of bytes that the entry has in common with the one before.
        let shared: Int
        /// The number of all its bytes.
        let count: Int
        /// Where its new bytes stand.
        let suffix: Int
        let isWhole: Bool
        let handle: UInt64
        /// Where the next entry stands.
        let next: Int
    }

    /// Reads the entry at `position`. `count` is the number of bytes of the entry before.
    @inline(__always)
    private func entry(
        at position: Int, before count: Int, _ handle: UInt64
    ) throws(FormatError) -> StoredEntry {
        var reader = unsafe ByteReader(bytes)
        try reader.skip(position)
        let head = try reader.byte()
        var dropped = Int(head >> 4)
        var new = Int(head & 7)
        if dropped == 15 {
            let more = try reader.varint()
            guard more <= count else { throw .malformed("an entry of the index") }
            dropped += Int(more)
        }
        if new == 7 { new += try reader.count() }
        let suffix = reader.position
        try reader.skip(new)
        let delta = try reader.signedVarint()
        guard dropped <= count, reader.position <= end else {
            throw .malformed("an entry of the index")
        }
        return StoredEntry(
            shared: count - dropped, count: count - dropped + new, suffix: suffix,
            isWhole: head & 8 != 0, handle: handle &+ UInt64(bitPattern: delta),
            next: reader.position)
    }

    /// Returns where an interval begins.
    @inline(__always)
    private func start(_ interval: Int) throws(FormatError) -> Int {
        guard interval > 0 else { return body }
        var reader = unsafe ByteReader(bytes)
        try reader.skip(table + 2 * (interval - 1))
        let start = body + Int(try reader.integer(UInt16.self))
        guard start < end else { throw .malformed("an interval of the index") }
        return start
    }

    /// Returns where an interval ends.
    @inline(__always)
    private func limit(_ interval: Int) throws(FormatError) -> Int {
        interval + 1 < intervalCount ? try start(interval + 1) : end
    }

    /// Returns the stored bytes of an interval.
    fileprivate func bytes(of interval: Int) throws(FormatError) -> ByteReader {
        let (start, limit) = (try start(interval), try limit(interval))
        guard start < limit else { throw .malformed("an empty interval of the index") }
        return unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes[start..<limit]))
    }

    /// Returns how many bytes from `first` in `a` and from `second` in `b` on are the same.
    @inline(__always)
    private func commonCount(
        _ a: UnsafeRawBufferPointer, _ first: Int, _ b: UnsafeRawBufferPointer, _ second: Int
    ) -> Int {
        let limit = min(a.count - first, b.count - second)
        guard limit > 0 else { return 0 }
        return unsafe a.commonCount(from: first, with: b, from: second, atMost: limit)
    }

    // MARK: - All entries

    /// Verifies the check and returns all entries.
    ///
    /// - Throws: A `FormatError` if the bytes break the format.
    func entries() throws(FormatError) -> IndexEntryList {
        try verify()
        return try entries(of: 0..<intervalCount)
    }

    /// Returns the entries of some intervals.
    func entries(of intervals: Range<Int>) throws(FormatError) -> IndexEntryList {
        var list = IndexEntryList()
        for interval in intervals {
            var position = try start(interval)
            let limit = try limit(interval)
            var last = unsafe [UInt8](key)
            var handle = base
            guard position < limit else { throw .malformed("an empty interval of the index") }
            while position < limit {
                let entry = try entry(at: position, before: last.count, handle)
                guard entry.next <= limit else { throw .malformed("an entry of the index") }
                last.removeLast(last.count - entry.shared)
                let new = entry.suffix..<entry.suffix + entry.count - entry.shared
                unsafe last.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[new]))
                list.append(last, isWhole: entry.isWhole, Handle(entry.handle))
                (handle, position) = (entry.handle, entry.next)
            }
        }
        return list
    }
}

/// Encodes entries as a group. Its memory is reused for the next group.
struct IndexGroupWriter: ~Copyable {
    private var body = ByteWriter(capacity: 4_096)
    private var starts: [Int] = []
    private var group = ByteWriter(capacity: 4_096)

    /// The bytes of the group that was encoded last.
    var bytes: [UInt8] { group.bytes }

    /// Their number.
    var count: Int { group.count }

    /// Encodes a range of entries as the group under `lower`, as many as fit in `limit` bytes, but
    /// at least one. Returns the index behind the last of them.
    mutating func encode(
        _ list: IndexEntryList, _ range: Range<Int>, under lower: [UInt8], limit: Int
    ) -> Int {
        let first = range.lowerBound
        begin()
        let base = list.entries[first].handle
        // The count of intervals, the base and the check.
        let frame = 2 + ((64 - base.rawValue.leadingZeroBitCount + 6) / 7) + 8
        var index = first
        while index < range.upperBound {
            let start = body.count
            let isFirst = (index - first) % IndexGroup.entriesOfInterval == 0
            append(index, of: list, isFirst: isFirst, under: lower, base)
            if index > first, frame + 2 * starts.count + body.count > limit {
                body.truncate(to: start)
                break
            }
            if isFirst { starts.append(start) }
            index += 1
        }
        finish(base, under: lower)
        return index
    }

    /// Encodes a group some of whose intervals are written anew. The others are copied. The patches
    /// ascend.
    mutating func encode(
        _ group: IndexGroup, with patches: [IndexPatch], under lower: [UInt8]
    ) throws(FormatError) {
        begin()
        let base = Handle(group.base)
        var interval = 0
        for patch in patches {
            try copy(interval..<patch.intervals.lowerBound, of: group)
            interval = patch.intervals.upperBound
            let count = patch.list.entries.count
            let parts = (count + IndexGroup.entriesOfInterval - 1) / IndexGroup.entriesOfInterval
            for part in 0..<parts {
                let range = count * part / parts..<count * (part + 1) / parts
                starts.append(body.count)
                for index in range {
                    append(
                        index, of: patch.list, isFirst: index == range.lowerBound, under: lower,
                        base)
                }
            }
        }
        try copy(interval..<group.intervalCount, of: group)
        finish(base, under: lower)
    }

    private mutating func copy(
        _ intervals: Range<Int>, of group: IndexGroup
    ) throws(FormatError) {
        for interval in intervals {
            let bytes = try group.bytes(of: interval)
            starts.append(body.count)
            bytes.copy(0..<bytes.end, into: &body)
        }
    }

    /// Encodes all names of an index, in ascending order, as full groups. Calls `body` with the key
    /// and the bytes of each.
    mutating func pack(
        _ names: [IndexChange], limit: Int, _ body: ([UInt8], [UInt8]) throws -> Void
    ) rethrows {
        var list = IndexEntryList()
        for name in names { list.append(name: name.key, mayBeCut: name.mayBeCut, name.handle) }
        var lower = IndexGroup.lowestKey
        list.cut(from: lower, to: nil)
        var start = 0
        while start < names.count {
            let end = encode(list, start..<names.count, under: lower, limit: limit)
            try body(lower, bytes)
            if end < names.count { lower = list.separator(before: end) }
            start = end
        }
    }

    private mutating func begin() {
        body.removeAll()
        starts.removeAll(keepingCapacity: true)
    }

    /// Appends an entry: the first of an interval as it differs from the key of the group and from
    /// `base`, any other one as it differs from the entry before.
    private mutating func append(
        _ index: Int, of list: IndexEntryList, isFirst: Bool, under lower: [UInt8], _ base: Handle
    ) {
        let entry = list.entries[index]
        let before: Handle
        if isFirst {
            let shared = list.commonCount(entry, with: lower)
            append(entry, of: list, sharing: shared, dropping: lower.count - shared)
            before = base
        } else {
            let last = list.entries[index - 1]
            let shared = list.commonCount(last, entry)
            append(entry, of: list, sharing: shared, dropping: last.count - shared)
            before = last.handle
        }
        body.append(signedVarint: Int64(bitPattern: entry.handle.rawValue &- before.rawValue))
    }

    /// Appends an entry without its handle.
    private mutating func append(
        _ entry: IndexEntryList.Entry, of list: IndexEntryList, sharing shared: Int,
        dropping dropped: Int
    ) {
        let new = entry.count - shared
        let head = min(dropped, 15) << 4 | (entry.isWhole ? 8 : 0) | min(new, 7)
        body.append(UInt8(head))
        if dropped >= 15 { body.append(varint: UInt64(dropped - 15)) }
        if new >= 7 { body.append(varint: UInt64(new - 7)) }
        body.append(list.key(entry).dropFirst(shared))
    }

    private mutating func finish(_ base: Handle, under lower: [UInt8]) {
        group.removeAll()
        group.append(varint: UInt64(starts.count))
        group.append(varint: base.rawValue)
        // The starts of a group that is only measured may be too large. It is not stored.
        for start in starts.dropFirst() {
            group.append(integer: UInt16(truncatingIfNeeded: start))
        }
        group.append(body)
        group.append(integer: group.check(seed: XXHash64.hash(lower)))
    }
}
