import EspalierRecords
import Synchronization

/// Decompressed and verified blocks of one generation, which all reads of the process share.
///
/// A block is found by its first handle and its check, as they stand in the container. Two
/// different blocks have the same check with a probability of 2^-64, so a block that was found is
/// right, whatever was written meanwhile: nothing has to be removed when records change.
///
/// A read may also ask for the block of a handle in one commit, which saves the search for the
/// container: what the file holds under a number of a commit never changes.
///
/// No thread waits for the lock. A thread that does not get it within a microsecond decompresses
/// the block itself. With more readers than cores, readers that wait for a `Mutex` change threads
/// at every look-up, which made a server answer a tenth as often; see decision 39.
///
/// When the blocks exceed their budget, the second-chance rule chooses those that leave (Corbato: A
/// Paging Experiment with the Multics System, 1968). A hand goes round over all blocks, and removes
/// a block that was not used since the hand last passed it. Reads keep the blocks that they use.
package final class BlockCache: Sendable {
    struct Key: Hashable {
        let first: UInt64
        let check: UInt64

        // The check is as good as random.
        func hash(into hasher: inout Hasher) { hasher.combine(check) }
    }

    struct Slot {
        let block: RecordBlock
        var isUsed: Bool
    }

    /// Where the block of a handle was found in a commit.
    struct Hint {
        var handle: UInt64 = 0
        var commit: UInt64 = 0
        var check: UInt64 = 0
        var slot: Int32 = 0
    }

    private static let hintCount: UInt64 = 8_192

    struct State {
        var positions: [Key: Int32] = [:]
        var slots: [Slot?] = []
        var free: [Int32] = []
        /// The slot that the hand points to.
        var hand = 0
        var bytes = 0
        var statistics = BlockStatistics()
        /// Empty until the first one.
        var hints: [Hint] = []
    }

    // immutable
    private let budget: Int
    // protected by itself
    let state = Mutex(State())

    init(budget: ByteCount) { self.budget = budget.bytes }

    /// How often blocks were found, and what they take.
    var statistics: BlockStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.blocks = state.positions.count
            statistics.bytes = ByteCount(state.bytes)
            return statistics
        }
    }

    /// Returns the block with a first handle and a check.
    func block(first: Handle, check: UInt64) -> RecordBlock? {
        guard budget > 0 else { return nil }
        return withStateIfFree { state in
            guard let position = state.positions[Key(first: first.rawValue, check: check)] else {
                state.statistics.misses += 1
                return nil
            }
            return state.use(position)
        }
    }

    /// Returns the block in which a record stood when a read of the same commit looked for it.
    func block(of handle: Handle, in commit: UInt64) -> RecordBlock? {
        withStateIfFree { state in
            guard !state.hints.isEmpty else { return nil }
            let hint = state.hints[Int(handle.rawValue % Self.hintCount)]
            guard hint.handle == handle.rawValue, hint.commit == commit else { return nil }
            // Another block may have taken the slot.
            guard let block = state.slots[Int(hint.slot)]?.block, block.check == hint.check,
                block.index(of: handle) != nil
            else { return nil }
            return state.use(hint.slot)
        }
    }

    /// Adds a block that can be read as a whole. Notes that a record of it was found in a commit;
    /// nil for a commit under way.
    func insert(_ block: RecordBlock, for handle: Handle, in commit: UInt64?) {
        guard block.isWhole, block.byteCount <= budget / 8 else { return }
        _ = withStateIfFree { state -> RecordBlock? in
            let key = Key(first: block.first.rawValue, check: block.check)
            var position = state.positions[key]
            if position == nil {
                state.makeRoom(for: block.byteCount, budget)
                position = state.add(block, key)
            }
            guard let commit, let position else { return nil }
            if state.hints.isEmpty {
                state.hints = Array(repeating: Hint(), count: Int(Self.hintCount))
            }
            state.hints[Int(handle.rawValue % Self.hintCount)] = Hint(
                handle: handle.rawValue, commit: commit, check: block.check, slot: position)
            return nil
        }
    }

    /// How often a look-up tries to get the lock: for about as long as two other look-ups take.
    private static let attempts = 32

    /// Runs `body` with the state, or returns nil if other threads hold the lock.
    @inline(__always)
    private func withStateIfFree(
        _ body: (inout sending State) -> sending RecordBlock?
    ) -> RecordBlock? {
        for _ in 0..<Self.attempts {
            if let result = state.withLockIfAvailable(body) { return result }
        }
        return nil
    }
}

extension BlockCache {
    /// Removes all blocks.
    func removeAll() {
        state.withLock { state in
            let statistics = state.statistics
            state = State()
            state.statistics = statistics
        }
    }
}

extension BlockCache.State {
    /// Returns a block, which stays when the hand passes next.
    fileprivate mutating func use(_ position: Int32) -> RecordBlock? {
        statistics.hits += 1
        slots[Int(position)]?.isUsed = true
        return slots[Int(position)]?.block
    }

    fileprivate mutating func add(_ block: RecordBlock, _ key: BlockCache.Key) -> Int32 {
        let slot = BlockCache.Slot(block: block, isUsed: false)
        bytes += block.byteCount
        let position: Int32
        if let free = free.popLast() {
            position = free
            slots[Int(free)] = slot
        } else {
            position = Int32(slots.count)
            slots.append(slot)
        }
        positions[key] = position
        return position
    }

    /// Removes blocks until `count` bytes more are within the budget.
    fileprivate mutating func makeRoom(for count: Int, _ budget: Int) {
        while bytes + count > budget, !positions.isEmpty {
            defer { hand = hand + 1 < slots.count ? hand + 1 : 0 }
            guard let slot = slots[hand] else { continue }
            guard !slot.isUsed else {
                slots[hand]?.isUsed = false
                continue
            }
            let block = slot.block
            positions[BlockCache.Key(first: block.first.rawValue, check: block.check)] = nil
            bytes -= block.byteCount
            slots[hand] = nil
            free.append(Int32(hand))
            statistics.removals += 1
        }
    }
}

/// What the memory for decompressed records holds, and how often records were found in it.
///
/// ```swift
/// let blocks = try cache.statistics().blocks
/// print("\(blocks.blocks) blocks, \(blocks.hits) times found, \(blocks.misses) times not")
/// ```
///
/// A block has about eight records. Reads and writes look blocks up, and each look-up counts. The
/// counts begin when the cache is opened, and again when another file takes the place of its file.
public struct BlockStatistics: Sendable, Hashable, Codable {
    /// How often a block was found decompressed.
    public var hits = 0
    /// How often a block had to be decompressed.
    public var misses = 0
    /// How many blocks were removed to make room for others.
    public var removals = 0
    /// The blocks in memory.
    public var blocks = 0
    /// The bytes of memory that the blocks take.
    public var bytes = ByteCount(0)

    /// Creates the statistics of an empty memory.
    public init() {}
}
