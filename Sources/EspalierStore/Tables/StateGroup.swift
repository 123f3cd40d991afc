package import EspalierLMDB
package import EspalierRecords

/// The states of records whose handles follow each other: a value of the keyspace `state`.
///
///     key   = handle (8 bytes): at most that of the first record
///     value = entries, check (8 bytes)
///     entry = difference (varint), state
///
/// The difference is that of the handle to the handle before, and of the first handle to the key.
/// A group has an entry only for a record whose state is not the default. A write changes the
/// states of hundreds of records that are spread over the cache, such as the authors of posts. An
/// entry usually takes 3 to 7 bytes, where an LMDB entry for each record would take 26: stamps and
/// dates are differences to those before. So the states stand on few pages, and a commit copies few
/// pages.
struct StateGroup: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let handle: Handle
        fileprivate(set) var state: StateEntry
    }

    /// The most bytes of a group. Eight groups fill a page, even if they are authenticated. LMDB
    /// splits and joins pages by whole groups: with four groups on a page, pages were emptier, and
    /// commits rewrote more bytes.
    static let byteLimit = 464

    /// The key of the group.
    let key: Handle
    /// In the order of handles.
    private(set) var entries: [Entry] = []

    init(_ key: Handle) { self.init(key, []) }

    init(_ key: Handle, _ entries: [Entry]) {
        self.key = key
        self.entries = entries
    }

    /// The state of a record that belongs to the group; nil for the default.
    subscript(handle: Handle) -> StateEntry? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].handle == handle else { return nil }
        return entries[low].state
    }

    /// Changes the states that the group has.
    mutating func change(_ change: (Handle, inout StateEntry) -> Void) {
        for index in entries.indices { change(entries[index].handle, &entries[index].state) }
    }

    /// Applies changes to entries. Both are in the order of handles; a state of nil removes the
    /// entry.
    mutating func apply(_ changes: ArraySlice<StateChange>) {
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + changes.count)
        var rest = entries[...]
        for change in changes {
            while let first = rest.first, first.handle < change.handle {
                merged.append(first)
                rest.removeFirst()
            }
            if rest.first?.handle == change.handle { rest.removeFirst() }
            if let state = change.state {
                merged.append(Entry(handle: change.handle, state: state))
            }
        }
        entries = merged + rest
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16 + 4 * entries.count)
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout ByteWriter) {
        writer.removeAll()
        var (last, base) = (key, StateEntry.Base())
        for entry in entries {
            Self.write(entry, after: last, &base, to: &writer)
            last = entry.handle
        }
        writer.append(integer: writer.check(seed: key.rawValue))
    }

    private static func write(
        _ entry: Entry, after last: Handle, _ base: inout StateEntry.Base,
        to writer: inout ByteWriter
    ) {
        writer.append(varint: entry.handle.rawValue - last.rawValue)
        entry.state.append(to: &writer, after: &base)
    }

    /// Returns the entries as groups of no more than `byteLimit` bytes.
    ///
    /// - Parameters:
    ///   - count: The bytes of this group.
    ///   - areFull: Whether all groups but the last are full. Otherwise they have about the same
    ///     length.
    func split(ofBytes count: Int, areFull: Bool) -> [StateGroup] {
        let parts = (count + Self.byteLimit - 1) / Self.byteLimit
        let limit = areFull ? Self.byteLimit : min(Self.byteLimit, count / parts + 20)
        var groups: [StateGroup] = []
        var group = StateGroup(key)
        var size = RecordLayout.checkSize
        var (last, base) = (key, StateEntry.Base())
        var writer = ByteWriter()
        for entry in entries {
            writer.removeAll()
            Self.write(entry, after: last, &base, to: &writer)
            if size + writer.count > limit, !group.entries.isEmpty {
                groups.append(group)
                group = StateGroup(entry.handle)
                size = RecordLayout.checkSize
                writer.removeAll()
                base = StateEntry.Base()
                Self.write(entry, after: entry.handle, &base, to: &writer)
            }
            group.entries.append(entry)
            size += writer.count
            last = entry.handle
        }
        return groups + [group]
    }

    init(reading reader: inout ByteReader, key: Handle) throws(FormatError) {
        self.init(key)
        try Self.forEach(in: &reader, key: key) { handle, state in
            entries.append(Entry(handle: handle, state: state))
            return true
        }
    }

    /// Returns the state of one record; nil for the default.
    fileprivate static func state(
        of handle: Handle, reading reader: inout ByteReader, key: Handle
    ) throws(FormatError) -> StateEntry? {
        var found: StateEntry?
        try forEach(in: &reader, key: key) { other, state in
            if other == handle { found = state }
            return other < handle
        }
        return found
    }

    /// Calls `body` with each entry, until it returns false.
    @inline(__always)
    private static func forEach(
        in reader: inout ByteReader, key: Handle, _ body: (Handle, StateEntry) -> Bool
    ) throws(FormatError) {
        let end = try reader.verifiedEnd(UInt64.self, seed: key.rawValue)
        var (last, isFirst, base) = (key.rawValue, true, StateEntry.Base())
        while reader.position < end {
            let (handle, isTooHigh) = last.addingReportingOverflow(try reader.varint())
            guard !isTooHigh, isFirst || handle > last else { throw .truncated }
            (last, isFirst) = (handle, false)
            let state = try StateEntry(reading: &reader, after: &base)
            guard body(Handle(handle), state) else { return }
        }
    }
}

extension StateGroupContent {
    /// Whether the group has a record that belongs to the next one, which has the key `next`.
    fileprivate func reaches(_ next: Handle?) -> Bool {
        guard let next, let last else { return false }
        return next <= last
    }
}

extension StateGroup: StateGroupContent {
    var last: Handle? { entries.last?.handle }
}

/// When the records of a group were written, and how old they may be.
///
/// The records of one write follow each other, and their states have the same bytes. So most of
/// them are read by comparing bytes, and kept as one run.
struct StateTimes: StateGroupContent {
    /// In the order of handles.
    private var runs: [RecordTimes] = []

    var last: Handle? { runs.last?.handles.upperBound }

    init(_ key: Handle) {}

    init(reading reader: inout ByteReader, key: Handle) throws(FormatError) {
        let end = try reader.verifiedEnd(UInt64.self, seed: key.rawValue)
        var last = key.rawValue
        var first: UInt64?
        // The bytes of the last entry, if the same bytes behind it mean the same state.
        var state: Range<Int>?
        var base = StateEntry.Base()
        var (writtenAt, maxAge): (UInt64?, UInt64?)
        while reader.position < end {
            let (handle, isTooHigh) = last.addingReportingOverflow(try reader.varint())
            guard !isTooHigh, first == nil || handle > last else { throw .truncated }
            let start = reader.position
            if let state, handle == last &+ 1, reader.skip(copyOf: state) {
                last = handle
                continue
            }
            let before = base
            let entry = try StateEntry(reading: &reader, after: &base)
            state = base == before ? start..<reader.position : nil
            if let first { add(writtenAt, maxAge, first, last) }
            (writtenAt, maxAge) = (entry.writtenAt?.rawValue, entry.expiry)
            (first, last) = (handle, handle)
        }
        if let first { add(writtenAt, maxAge, first, last) }
    }

    private mutating func add(
        _ writtenAt: UInt64?, _ maxAge: UInt64?, _ first: UInt64, _ last: UInt64
    ) {
        let (first, last) = (Handle(first), Handle(last))
        // A record with several references has other bytes, and the same dates.
        if let run = runs.last, run.writtenAt == writtenAt, run.maxAge == maxAge,
            run.handles.upperBound.rawValue &+ 1 == first.rawValue
        {
            let handles = run.handles.lowerBound...last
            runs[runs.count - 1] = RecordTimes(writtenAt: writtenAt, maxAge: maxAge, of: handles)
        } else {
            runs.append(RecordTimes(writtenAt: writtenAt, maxAge: maxAge, of: first...last))
        }
    }

    /// The dates of a record that belongs to the group; nil if its state is the default.
    subscript(handle: Handle) -> RecordTimes? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].handles.upperBound < handle { low = middle + 1 } else { high = middle }
        }
        guard low < runs.count, runs[low].handles.lowerBound <= handle else { return nil }
        return runs[low]
    }
}

/// A new state of a record; nil for the default.
struct StateChange {
    let handle: Handle
    let state: StateEntry?
}

/// What is read of a group.
protocol StateGroupContent {
    /// Makes the content of a group without entries.
    init(_ key: Handle)

    init(reading reader: inout ByteReader, key: Handle) throws(FormatError)

    /// The last record whose state is not the default.
    var last: Handle? { get }
}

/// The handles from the key of a group to the next key, and what stands there.
struct StateRange<Content: StateGroupContent> {
    /// The key of the group; 0 if there is none.
    var first = Handle(0)
    /// The key of the group behind it.
    var next: Handle?
    var isStored = false
    /// The bytes of the group as it is stored.
    var byteCount = 0
    /// Nil if the group is damaged.
    var group: Content?

    func contains(_ handle: Handle) -> Bool {
        first <= handle && next.map { handle < $0 } ?? true
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the stored state of a record; nil for the default. Damage throws a `FormatError`.
    package func state(_ keyspaces: Keyspaces, of handle: Handle) throws -> StateEntry? {
        try withCursor(keyspaces.state) { cursor in
            guard
                let key = try cursor.seekRange(
                    around: handle, handle.rawValue, Handle.init(key:))
            else { return nil }
            return try cursor.withEntry { _, value in
                var reader = ByteReader(lent: value)
                return try StateGroup.state(of: handle, reading: &reader, key: key)
            }
        }
    }

    /// Returns the group to which the state of a record belongs. The range contains the handle,
    /// even if keys are damaged.
    func stateRange(
        _ keyspaces: Keyspaces, around handle: Handle
    ) throws -> StateRange<StateGroup> {
        try stateRange(of: StateGroup.self, keyspaces, around: handle)
    }

    /// Returns the same range, with `Content` read from the group.
    func stateRange<Content>(
        of type: Content.Type, _ keyspaces: Keyspaces, around handle: Handle
    ) throws -> StateRange<Content> {
        var range = StateRange<Content>()
        try withCursor(keyspaces.state) { cursor in
            let key = try cursor.seekRange(around: handle, handle.rawValue, Handle.init(key:))
            if let key {
                (range.first, range.isStored) = (key, true)
                range.group = cursor.withEntry { _, value in
                    range.byteCount = value.byteCount
                    var reader = ByteReader(lent: value)
                    return try? Content(reading: &reader, key: key)
                }
            } else {
                range.group = Content(range.first)
            }
            range.next = try cursor.nextRange(after: handle, from: key, Handle.init(key:)).key
        }
        // After a loss of power an older group may reach behind the key of a newer one.
        if range.group?.reaches(range.next) == true { range.group = nil }
        return range
    }

    /// Calls `body` with each record whose state is stored, and its state. Calls `damaged` with the
    /// key of each group that can't be read, and the reason; the key is nil if it is no handle.
    package func forEachState(
        _ keyspaces: Keyspaces,
        damaged: (_ key: Handle?, FormatError) throws -> Void = { _, _ in },
        _ body: (Handle, StateEntry) throws -> Void
    ) throws {
        var last: StateGroup?
        func visitLast(before next: Handle?) throws {
            guard let group = last.take() else { return }
            if group.reaches(next) { return try damaged(group.key, .truncated) }
            for entry in group.entries { try body(entry.handle, entry.state) }
        }
        try forEach(in: keyspaces.state) { key, value in
            guard let key = Handle(key: key) else {
                try damaged(nil, .truncated)
                return true
            }
            try visitLast(before: key)
            do throws(FormatError) {
                var reader = ByteReader(lent: value)
                last = try StateGroup(reading: &reader, key: key)
            } catch {
                try damaged(key, error)
            }
            return true
        }
        try visitLast(before: nil)
    }
}
