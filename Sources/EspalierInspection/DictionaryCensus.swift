import EspalierLMDB
import EspalierRecords
package import EspalierStore

/// The dictionaries of a cache, and how its frames are stored: with which dictionary, compressed
/// without one, or uncompressed.
///
/// ```swift
/// let census = try inspection.dictionaryCensus()
/// for dictionary in census.dictionaries { print(dictionary.number, dictionary.use.records) }
/// ```
///
/// The census does not contain the bytes of dictionaries, which consist of users' records.
package struct DictionaryCensus: Sendable {
    /// The frames that are stored in one way.
    package struct Use: Sendable, Hashable {
        package init() {}

        package internal(set) var frames = 0
        package internal(set) var records = 0
        /// The bytes of the readable records before compression, and of their frames.
        package internal(set) var rawBytes = 0
        package internal(set) var storedBytes = 0
        /// The number of records in frames that can't be read.
        package internal(set) var unreadable = 0
        /// The stored bytes of the frames that can't be read.
        package internal(set) var unreadableBytes = 0
    }

    package struct Dictionary: Sendable {
        package let number: UInt64
        package internal(set) var byteCount = 0
        /// Whether new frames are compressed with it.
        package internal(set) var isCurrent = false
        /// A description of its damage; nil for an intact dictionary.
        package internal(set) var problem: String?
        /// The number of its frames as the cache counts them; nil if the list of dictionaries does
        /// not contain it.
        package internal(set) var countedFrames: UInt64?
        package internal(set) var use = Use()
    }

    /// The dictionaries in the order of their numbers. A dictionary that records use and that does
    /// not exist is among them, with a problem.
    package internal(set) var dictionaries: [Dictionary] = []
    package internal(set) var raw = Use()
    package internal(set) var withoutDictionary = Use()
    /// The number of containers whose damage hides their frames.
    package internal(set) var damagedContainers = 0
    /// Whether the list of the current dictionaries is damaged.
    package internal(set) var isListDamaged = false
    /// The most bytes that all dictionaries together may have.
    package internal(set) var allowance = ByteCount(0)

    /// The bytes of all dictionaries.
    package var byteCount: Int { dictionaries.reduce(0) { $0 + $1.byteCount } }
}

extension DictionaryCensus.Use {
    package mutating func add(_ other: DictionaryCensus.Use) {
        frames += other.frames
        records += other.records
        rawBytes += other.rawBytes
        storedBytes += other.storedBytes
        unreadable += other.unreadable
        unreadableBytes += other.unreadableBytes
    }

    /// Adds a frame; `block` is nil if it can't be read.
    fileprivate mutating func add(_ block: RecordBlock?, count: Int, storedAs byteCount: Int) {
        frames += 1
        records += count
        guard let block else {
            unreadable += count
            return unreadableBytes += byteCount
        }
        rawBytes += block.recordByteCount
        storedBytes += byteCount
    }
}

extension Inspection {
    /// Returns the dictionaries without the frames that use them: `use` is empty.
    ///
    /// - Complexity: A look-up for each dictionary.
    package func dictionaries() throws -> DictionaryCensus {
        var census = DictionaryCensus()
        census.allowance = ByteCount(TrainingPolicy.allowance(of: generation.budget))
        let listed = try DictionaryTable(loading: snapshot, keyspaces)
        census.isListDamaged = listed.isDamaged
        let numbers = Set(listed.entries.keys).union(try snapshot.dictionaryNumbers(keyspaces))
        for number in numbers.sorted() {
            var dictionary = DictionaryCensus.Dictionary(number: number)
            let entry = listed.entries[number]
            try describe(&dictionary, entry, isListed: !listed.isDamaged)
            census.dictionaries.append(dictionary)
        }
        return census
    }

    /// Returns the dictionaries with the frames that use them.
    ///
    /// - Complexity: O(*n*) in the records of the cache.
    package func dictionaryCensus() throws -> DictionaryCensus {
        var census = try dictionaries()
        var uses: [UInt64: DictionaryCensus.Use] = [:]
        func add(_ frame: [UInt8], first: Handle, count: Int) {
            let number = try? ByteReader.reading(frame) { try $0.varint() }
            let block = try? stored.decode(frame, first: first)
            uses[number ?? 0, default: .init()].add(
                block, count: count, storedAs: frame.count)
        }
        try snapshot.forEach(in: keyspaces.nodes) { key, value in
            let value = try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
            guard let key = try? Handle(stored: key),
                let frames = try? stored.frames(of: value, key: key)
            else {
                census.damagedContainers += 1
                return true
            }
            for frame in frames {
                add(Array(value[frame.range]), first: frame.first, count: frame.count)
            }
            return true
        }
        try snapshot.forEachKey(in: keyspaces.long, from: [UInt8]()) { key in
            if let key = ChunkKey(key), key.chunk == 0,
                let frame = try? snapshot.longFrame(keyspaces, Handle(key.number))
            {
                add(frame, first: Handle(key.number), count: 1)
            }
            return true
        }
        census.raw = uses.removeValue(forKey: 0) ?? .init()
        census.withoutDictionary = uses.removeValue(forKey: FrameDecoder.noDictionary) ?? .init()
        for index in census.dictionaries.indices {
            census.dictionaries[index].use =
                uses.removeValue(forKey: census.dictionaries[index].number) ?? .init()
        }
        for (number, use) in uses {
            census.dictionaries.append(.init(number: number, problem: "it is not there", use: use))
        }
        census.dictionaries.sort { $0.number < $1.number }
        return census
    }

    private func describe(
        _ dictionary: inout DictionaryCensus.Dictionary, _ entry: DictionaryTable.Entry?,
        isListed: Bool
    ) throws {
        dictionary.byteCount = entry?.byteCount ?? 0
        dictionary.isCurrent = entry?.isCurrent ?? false
        dictionary.countedFrames = isListed ? entry?.frameCount : nil
        let (stored, usable, problem) = try self.dictionary(dictionary.number)
        dictionary.problem = problem
        if let stored { dictionary.byteCount = stored.bytes.count }
        if let usable {
            if entry == nil {
                dictionary.problem = "it is not listed"
            } else if entry?.fingerprint != usable.fingerprint {
                dictionary.problem = "it is not the one listed"
            }
        }
    }
}
