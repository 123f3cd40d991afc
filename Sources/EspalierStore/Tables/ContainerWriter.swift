import EspalierLMDB
import EspalierRecords

/// Writes changed records into containers.
///
/// Each container is read, changed and written once, in the order of handles:
///
/// 1. Only the frames that a change hits are decompressed.
/// 2. Frames with at most half of their records are merged with their neighbours. Longer ones are
///    split, evenly in the middle of the cache, and into full ones at its end.
/// 3. What no longer fits in the container is shared with the next one, or split in the same way.
///    A container that is not full is packed with its neighbours if that takes one less.
///
/// A frame or container that can't be read stays until one of its records is written or removed.
/// All of its records are then lost, and reference counts are corrected before the commit ends. A
/// new record gets a frame behind it, or a container.
struct ContainerWriter: ~Copyable {
    private let commit: CommitTransaction
    private let nodes: Keyspace
    /// The most bytes of a container.
    private let limit: Int
    /// The pages that packing may still write, by the number of changed containers.
    private var packingPagesLeft = CopiedPages.firstPackingPages
    /// The pages that packing may still write, by the pages that are free.
    private var freePackingPages: Int
    /// Blocks and frames whose bytes the drafts use.
    private var blocks: [RecordBlock] = []
    private var buffers: [RecordBuffer] = []
    private var block = ByteWriter()
    private var output = ByteWriter()

    /// - Parameter packingLimit: The most pages that packing may write.
    init(_ commit: CommitTransaction, packingLimit: Int = .max) {
        self.commit = commit
        freePackingPages = packingLimit
        nodes = commit.keyspaces.nodes
        limit = commit.records.valueLimit
    }

    /// A frame while its container is changed.
    fileprivate struct Draft {
        var first: Handle
        var count: Int
        /// The frame, unless it has to be made from `records`.
        var bytes: ByteReader?
        /// The records; nil if the frame was not decompressed.
        var records: [BlockRecord]?
        var byteCount: Int { records?.reduce(0) { $0 + $1.bytes.end } ?? 0 }
    }

    /// A container while it is changed, or the place of a new one.
    private struct Section {
        /// The key of the container; nil if there is none yet.
        var key: Handle?
        /// Why the container can't be read; nil if it can.
        var damage: FormatError?
        var isDamaged: Bool { damage != nil }
        /// The key of the container behind it.
        var next: Handle?
        /// Whether the keyspace ends here: there is no key behind, not even a damaged one.
        var isLast = false
        var storedSize = 0
        var drafts: [Draft] = []
    }

    // MARK: - Changes

    /// Writes the changes, whose handles ascend.
    mutating func write(
        _ changes: [RecordTable.Change], in transaction: inout WriteTransaction
    ) throws {
        for change in changes where change.wasLong {
            try commit.removeChunks(of: change.handle, in: &transaction)
        }
        var rest = changes[...]
        while let first = rest.first {
            packingPagesLeft += CopiedPages.packingPagesOfContainer
            var section = try section(around: first.handle, in: transaction)
            let end =
                section.next.flatMap { next in rest.firstIndex { $0.handle >= next } }
                ?? rest.endIndex
            let part = rest[..<end]
            rest = rest[end...]
            let isAppend =
                section.next == nil && part.last.map { !$0.isStored && $0.record != nil } == true
            if section.isDamaged {
                if let key = section.key, key < first.handle, !part.contains(where: \.isStored) {
                    section = Section(next: section.next, isLast: section.isLast)
                } else {
                    commit.needsRecount = true
                }
            }
            try edit(&section, part)
            try mergeSparse(&section)
            split(&section, isAppend: isAppend)
            try encode(&section.drafts, in: &transaction)
            try store(section, isAppend: isAppend, upcoming: rest.first?.handle, in: &transaction)
            blocks.removeAll(keepingCapacity: true)
            buffers.removeAll(keepingCapacity: true)
        }
    }

    /// Packs the containers from a key on anew: into full blocks, compressed as new ones, and full
    /// containers. Returns the key at which to continue; nil at the end.
    ///
    /// - Parameter count: The number of containers to read.
    mutating func repack(
        from start: Handle, count: Int, in transaction: inout WriteTransaction
    ) throws -> Handle? {
        var next: Handle? = start
        var all = Section()
        for _ in 0..<count {
            guard let key = next else { break }
            var section = try section(around: key, in: transaction)
            next = section.next
            // The first container may have a key behind the first one looked for.
            guard let own = section.key else { continue }
            // A container with damage stays as it is: reads and repairs find it.
            guard try !section.isDamaged && decodeAll(&section),
                Self.isAscending(all.drafts + section.drafts)
            else { break }
            for draft in section.drafts {
                if let bytes = draft.bytes { commit.releaseDictionary(ofFrame: bytes) }
            }
            all.drafts += section.drafts
            try remove(section, own, in: &transaction)
            if all.key == nil { all.key = own }
        }
        guard !all.drafts.isEmpty else { return next }
        let records = all.drafts.flatMap { $0.records ?? [] }
        guard !records.isEmpty else { return next }
        var packed = Section()
        packed.drafts = [Draft(first: records[0].handle, count: records.count, records: records)]
        split(&packed, isAppend: true)
        try encode(&packed.drafts, in: &transaction)
        guard !packed.drafts.isEmpty else { return next }
        var key = all.key ?? records[0].handle
        for group in groups(packed.drafts[...], key: key, size: limit) {
            key = min(key, group[group.startIndex].first)
            try put(group, key: key, isLast: false, in: &transaction)
            key = Handle(.max)
        }
        blocks.removeAll()
        buffers.removeAll()
        return next
    }

    /// Decompresses all frames of a container. Returns false if one can't be read.
    private mutating func decodeAll(_ section: inout Section) throws -> Bool {
        for index in section.drafts.indices {
            guard try decode(&section.drafts[index]) else { return false }
        }
        return true
    }

    /// Removes the frames and containers that can't be read, whose records are lost. A container
    /// whose key is damaged is one of them.
    mutating func removeDamaged(in transaction: inout WriteTransaction) throws {
        var keys: [Handle] = []
        var damaged: [[UInt8]] = []
        try transaction.forEachKey(in: nodes, from: [] as [UInt8]) { bytes in
            if let key = Handle(key: bytes) {
                keys.append(key)
            } else {
                damaged.append([UInt8](copying: bytes))
            }
            return true
        }
        for key in damaged { try transaction.delete(nodes, key) }
        for key in keys {
            var section = try section(around: key, in: transaction)
            // A library that knows the version can read the container.
            if section.damage?.isNewer == true { continue }
            let count = section.drafts.count
            var kept: [Draft] = []
            for var draft in section.drafts where try decode(&draft) { kept.append(draft) }
            defer {
                blocks.removeAll()
                buffers.removeAll()
            }
            guard kept.isEmpty || kept.count < count else { continue }
            section.drafts = kept
            try store(section, isAppend: false, upcoming: nil, in: &transaction)
        }
    }

    /// The most bytes of a frame in a container. A longer one stands in chunks.
    private var longestFrame: Int { limit - Container.headSize - 16 }

    private func subtract(_ byteCount: Int) {
        commit.counters.recordBytes -= min(commit.counters.recordBytes, UInt64(byteCount))
    }

    // MARK: - Reading

    /// Returns the container around a handle, or the place of a new one.
    private mutating func section(
        around handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Section {
        var section = Section()
        var value: RecordBuffer?
        try transaction.withCursor(nodes) { cursor in
            let key = try cursor.seekRange(around: handle, handle.rawValue, Handle.init(key:))
            if key != nil {
                value = cursor.withEntry { _, value in
                    let reader = ByteReader(lent: value)
                    return RecordBuffer(reader, 0..<reader.end)
                }
            }
            section.key = key
            (section.next, section.isLast) = try cursor.nextRange(
                after: handle, from: key, Handle.init(key:))
        }
        guard let key = section.key, let value else { return section }
        section.storedSize = value.count
        buffers.append(value)
        do {
            section.drafts = try Container(reading: value.reader, key: key).entries.map {
                Draft(first: $0.first, count: $0.count, bytes: value.reader.slice($0.range))
            }
        } catch {
            section.damage = error
        }
        return section
    }

    /// Decompresses a frame. Returns false if it can't be read.
    private mutating func decode(_ draft: inout Draft) throws -> Bool {
        guard draft.records == nil, let bytes = draft.bytes else { return true }
        do {
            let block = try commit.stored.block(bytes, first: draft.first, for: draft.first)
            blocks.append(block)
            var records: [BlockRecord] = []
            records.reserveCapacity(block.count + 4)
            for index in 0..<block.count { records.append(try block.blockRecord(at: index)) }
            draft.records = records
            draft.count = block.count
            return true
        } catch is FormatError {
            return false
        }
    }

    // MARK: - Editing

    /// Applies changes to the frames of a section.
    private mutating func edit(
        _ section: inout Section, _ changes: ArraySlice<RecordTable.Change>
    ) throws {
        var position = 0
        for change in changes {
            while position + 1 < section.drafts.count,
                section.drafts[position + 1].first <= change.handle
            {
                position += 1
            }
            if section.drafts.isEmpty {
                guard let record = change.record else { continue }
                section.drafts.append(Draft(first: record.handle, count: 0, records: []))
            }
            if try decode(&section.drafts[position]) {
                edit(&section.drafts[position], change)
            } else if change.isStored || change.handle == section.drafts[position].first {
                commit.needsRecount = true
                section.drafts[position].records = []
                edit(&section.drafts[position], change)
            } else if let record = change.record {
                let draft = Draft(first: record.handle, count: 1, records: [record])
                let isBefore = record.handle < section.drafts[position].first
                section.drafts.insert(draft, at: isBefore ? position : position + 1)
            }
        }
        section.drafts.removeAll { $0.records?.isEmpty == true }
    }

    private func edit(_ draft: inout Draft, _ change: RecordTable.Change) {
        var records = draft.records.take() ?? []
        // Most changes are behind all records of the frame.
        var index = records.count
        while index > 0, records[index - 1].handle >= change.handle { index -= 1 }
        let isThere = index < records.count && records[index].handle == change.handle
        if isThere || change.record != nil, let bytes = draft.bytes {
            commit.releaseDictionary(ofFrame: bytes)
            draft.bytes = nil
        }
        if let record = change.record {
            if isThere { records[index] = record } else { records.insert(record, at: index) }
        } else if isThere {
            records.remove(at: index)
        }
        draft.first = records.first?.handle ?? draft.first
        draft.count = records.count
        draft.records = records
    }

    /// Joins neighbouring frames of few records, of which at least one has changed.
    private mutating func mergeSparse(_ section: inout Section) throws {
        let few = RecordBlock.recordLimit / 2
        guard section.drafts.contains(where: { $0.bytes == nil && $0.count <= few }) else { return }
        var merged: [Draft] = []
        for var draft in section.drafts {
            guard var last = merged.last, last.bytes == nil || draft.bytes == nil,
                last.count <= few || draft.count <= few,
                last.count + draft.count <= RecordBlock.recordLimit,
                try decode(&last), try decode(&draft),
                last.byteCount + draft.byteCount <= RecordBlock.byteLimit
            else {
                merged.append(draft)
                continue
            }
            for bytes in [last.bytes, draft.bytes] {
                if let bytes { commit.releaseDictionary(ofFrame: bytes) }
            }
            let records = (last.records ?? []) + (draft.records ?? [])
            merged[merged.count - 1] = Draft(
                first: records[0].handle, count: records.count, records: records)
        }
        section.drafts = merged
    }

    /// Splits the frames that have too many records or bytes.
    private func split(_ section: inout Section, isAppend: Bool) {
        func isLong(_ draft: Draft) -> Bool {
            guard draft.bytes == nil, draft.count > 1 else { return false }
            return draft.count > RecordBlock.recordLimit || draft.byteCount > RecordBlock.byteLimit
        }
        guard section.drafts.contains(where: isLong) else { return }
        var parts: [Draft] = []
        for (index, draft) in section.drafts.enumerated() {
            guard isLong(draft), let records = draft.records else {
                parts.append(draft)
                continue
            }
            let isLast = isAppend && index == section.drafts.count - 1
            parts += Self.parts(of: records, areFull: isLast)
        }
        section.drafts = parts
    }

    /// Returns records as frames: each full but the last, or all of about the same length. A record
    /// that fills a frame has one of its own, and does not count among the others.
    private static func parts(of records: [BlockRecord], areFull: Bool) -> [Draft] {
        let short = records.filter { $0.bytes.end <= RecordBlock.byteLimit }
        let bytes = short.reduce(0) { $0 + $1.bytes.end }
        let count = max(
            1, (short.count + RecordBlock.recordLimit - 1) / RecordBlock.recordLimit,
            (bytes + RecordBlock.byteLimit - 1) / RecordBlock.byteLimit)
        let recordLimit =
            areFull ? RecordBlock.recordLimit : max(1, (short.count + count - 1) / count)
        let byteLimit =
            areFull ? RecordBlock.byteLimit : min(RecordBlock.byteLimit, bytes / count + 200)
        var parts: [Draft] = []
        var start = 0
        while start < records.count {
            var (end, size) = (start, 0)
            while end < records.count, end - start < recordLimit,
                end == start || size + records[end].bytes.end <= byteLimit
            {
                size += records[end].bytes.end
                end += 1
            }
            parts.append(
                Draft(
                    first: records[start].handle, count: end - start,
                    records: Array(records[start..<end])))
            start = end
        }
        return parts
    }

    // MARK: - Writing

    /// Makes the frames of the drafts that have changed. Stores frames that are too long in chunks,
    /// and removes their drafts. Such a frame has one record, which is not compressed well enough.
    private mutating func encode(
        _ drafts: inout [Draft], in transaction: inout WriteTransaction
    ) throws {
        for index in drafts.indices where drafts[index].bytes == nil {
            let frame = try frame(of: (drafts[index].records ?? [])[...], in: transaction)
            guard frame.end > longestFrame else {
                drafts[index].bytes = frame
                continue
            }
            try commit.storeInChunks(frame, of: drafts[index].first, in: &transaction)
        }
        drafts.removeAll { $0.bytes == nil }
    }

    /// Returns the frame of some records.
    private mutating func frame(
        of records: ArraySlice<BlockRecord>, in transaction: borrowing WriteTransaction
    ) throws -> ByteReader {
        RecordBlock.write(records, to: &block)
        try commit.compress(
            block, first: records[records.startIndex].handle, to: &output, in: transaction)
        let buffer = output.copyToBuffer()
        buffers.append(buffer)
        return buffer.reader
    }

    /// Writes the containers of a section.
    private mutating func store(
        _ section: Section, isAppend: Bool, upcoming: Handle?,
        in transaction: inout WriteTransaction
    ) throws {
        var section = section
        guard let first = section.drafts.first else {
            if let key = section.key { try remove(section, key, in: &transaction) }
            return
        }
        var key = min(section.key ?? first.first, first.first)
        let size = size(of: section.drafts, key: key)
        if size < limit * 17 / 20, !(isAppend && section.key == nil) {
            key = try takeInNeighbours(&section, key: key, size: size, upcoming, in: &transaction)
        } else if size > limit, !isAppend, let next = section.next {
            try share(&section, with: next, size: size, upcoming, in: &transaction)
        }
        if let old = section.key {
            subtract(section.storedSize)
            commit.records.noteEdit(ofContainer: old)
            if old != key { try transaction.delete(nodes, old.rawValue) }
        }
        let total = self.size(of: section.drafts, key: key)
        let count = (total + limit - 1) / limit
        let share = isAppend || count == 1 ? limit : min(limit, total / count + 150)
        var parts = groups(section.drafts[...], key: key, size: share)
        // Frames are not divided, so even shares may take a container more than full ones.
        if parts.count > count { parts = groups(section.drafts[...], key: key, size: limit) }
        var isFirst = true
        for group in parts {
            let first = isFirst ? key : group[group.startIndex].first
            let isNew = !isFirst || section.key == nil
            try put(group, key: first, isLast: section.isLast && isNew, in: &transaction)
            isFirst = false
        }
    }

    /// Returns the bytes of a container of some frames.
    private func size(of drafts: [Draft], key: Handle) -> Int {
        var last = key
        return drafts.reduce(Container.headSize) { sum, draft in
            defer { last = draft.first }
            return sum + Container.size(of: draft.frame, after: last)
        }
    }

    /// Divides frames among containers of at most `size` bytes, where that is possible.
    private func groups(
        _ drafts: ArraySlice<Draft>, key: Handle, size: Int
    ) -> [ArraySlice<Draft>] {
        var groups: [ArraySlice<Draft>] = []
        var (start, last, sum) = (drafts.startIndex, key, Container.headSize)
        for index in drafts.indices {
            let first = drafts[index].first
            var more = Container.size(of: drafts[index].frame, after: last)
            if index > start, sum + more > size {
                groups.append(drafts[start..<index])
                (start, sum) = (index, Container.headSize)
                more = Container.size(of: drafts[index].frame, after: first)
            }
            sum += more
            last = first
        }
        groups.append(drafts[start...])
        return groups
    }

    private mutating func put(
        _ drafts: ArraySlice<Draft>, key: Handle, isLast: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        Container.write(drafts.map(\.frame)[...], key: key, to: &output)
        let bytes = output.bytes
        if isLast {
            try transaction.append(nodes, key.rawValue, bytes)
        } else {
            try transaction.put(nodes, key.rawValue, bytes)
        }
        commit.records.addNewPages(for: bytes.count)
        commit.counters.recordBytes += UInt64(bytes.count)
    }

    // MARK: - Neighbours

    /// The most containers that are packed together.
    private static let packedCount = 8

    /// Packs a container that is not full with those behind it, if that takes one container less:
    /// two in one, three in two, and up to eight in seven. Joins one that is less than half full
    /// with the previous one, if they fit together. Returns the key of the first container. Eight
    /// neighbours are then 83 % full together, at least.
    private mutating func takeInNeighbours(
        _ section: inout Section, key: Handle, size: Int, _ upcoming: Handle?,
        in transaction: inout WriteTransaction
    ) throws -> Handle {
        let limit = self.limit * 19 / 20
        var (packed, sum) = ([Section](), size)
        var (drafts, next) = (section.drafts, section.next)
        let most = min(Self.packedCount, min(packingPagesLeft, freePackingPages) + 2)
        let mayFit = try mayPack(size, from: next, atMost: most, to: limit, in: transaction)
        while mayFit, packed.count + 1 < most, let following = next,
            // A change behind the container's key would rewrite it at once.
            upcoming.map({ $0.rawValue > following.rawValue + 64 }) ?? true,
            let neighbour = try neighbour(following, in: transaction),
            Self.isAscending(drafts + neighbour.drafts)
        {
            sum += neighbour.storedSize
            packed.append(neighbour)
            drafts += neighbour.drafts
            next = neighbour.next
            // Long frames may not fit although their sum does.
            guard
                sum > packed.count * limit
                    || groups(drafts[...], key: key, size: self.limit).count > packed.count
            else {
                for neighbour in packed {
                    if let key = neighbour.key { try remove(neighbour, key, in: &transaction) }
                }
                (section.drafts, section.next) = (drafts, next)
                packingPagesLeft -= packed.count - 1
                freePackingPages -= packed.count - 1
                return key
            }
        }
        guard size < self.limit / 2, key.rawValue > 0,
            let neighbour = try neighbour(Handle(key.rawValue - 1), in: transaction),
            let previous = neighbour.key, previous < key, size + neighbour.storedSize <= limit,
            Self.isAscending(neighbour.drafts + section.drafts)
        else { return key }
        try remove(neighbour, previous, in: &transaction)
        section.drafts = neighbour.drafts + section.drafts
        return previous
    }

    /// Returns whether the stored lengths allow a container to be packed with those behind it.
    /// Most are full, and reading their frames took 15 % of the instructions of a small commit.
    private func mayPack(
        _ size: Int, from next: Handle?, atMost most: Int, to limit: Int,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard let next else { return false }
        return try transaction.withCursor(nodes) { cursor in
            var (isThere, sum) = (try cursor.seek(atOrAfter: next.rawValue), size)
            for count in 1..<max(1, most) where isThere {
                sum += cursor.withEntry { _, value in value.byteCount }
                if sum <= count * limit { return true }
                isThere = try cursor.next()
            }
            return false
        }
    }

    /// Joins a container that is too long with the next one, if both have room for all frames.
    private mutating func share(
        _ section: inout Section, with next: Handle, size: Int, _ upcoming: Handle?,
        in transaction: inout WriteTransaction
    ) throws {
        guard upcoming.map({ $0.rawValue > next.rawValue + 1_024 }) ?? true,
            let neighbour = try neighbour(next, in: transaction),
            size + neighbour.storedSize <= limit * 19 / 10,
            case let drafts = section.drafts + neighbour.drafts, Self.isAscending(drafts),
            groups(drafts[...], key: section.key ?? drafts[0].first, size: limit).count <= 2
        else { return }
        try remove(neighbour, next, in: &transaction)
        section.drafts += neighbour.drafts
        section.next = neighbour.next
    }

    /// Returns whether frames follow each other. After a loss of power an older container may hold
    /// records that a newer one behind it has, too.
    private static func isAscending(_ drafts: [Draft]) -> Bool {
        zip(drafts, drafts.dropFirst()).allSatisfy { a, b in
            a.first < b.first && a.records?.last.map { $0.handle < b.first } != false
        }
    }

    /// Returns the container around a handle; nil if it can't be read.
    private mutating func neighbour(
        _ handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Section? {
        let section = try section(around: handle, in: transaction)
        return section.key == nil || section.isDamaged ? nil : section
    }

    private func remove(
        _ section: Section, _ key: Handle, in transaction: inout WriteTransaction
    ) throws {
        subtract(section.storedSize)
        commit.records.noteEdit(ofContainer: key)
        try transaction.delete(nodes, key.rawValue)
    }
}

extension ContainerWriter.Draft {
    /// The frame, which was made.
    fileprivate var frame: Container.Frame {
        guard let bytes else { preconditionFailure("a frame that was not made") }
        return Container.Frame(first: first, count: count, bytes: bytes)
    }
}
