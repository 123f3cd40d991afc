import EspalierCompression
import EspalierConfinement
package import EspalierLMDB
package import EspalierRecords

/// Compresses blocks into frames at one level, if that saves enough. Keeps contexts and digested
/// dictionaries between commits.
///
/// `@unchecked Sendable` because it is confined to the thread that commits.
final class BlockCompressor: @unchecked Sendable {
    /// Shorter blocks stay raw: a frame takes five bytes of its own.
    static let shortest = 24
    /// Without a dictionary, compressing a shorter block saves too little.
    static let shortestWithoutDictionary = 192

    private let level: Int
    private let compressor: Compressor
    private var digests: [UInt64: (fingerprint: UInt64, digest: CompressionDigest)] = [:]

    /// Returns nil if blocks are not to be compressed, or if memory runs out.
    init?(_ compression: Compression) {
        guard case .zstd(let level) = compression, let compressor = Compressor(level: level) else {
            return nil
        }
        self.level = level
        self.compressor = compressor
    }

    /// Returns the most bytes that a frame may have: compression has to save an eighth.
    static func limit(for byteCount: Int) -> Int { byteCount - max(byteCount / 8, 4) }

    /// Returns a block as a frame of zstd, and the dictionary used; nil if it saves too little.
    /// `bytes` returns the bytes of a dictionary that is not digested yet.
    func compress(
        _ block: RawSpan, with dictionary: (number: UInt64, fingerprint: UInt64)?,
        bytes: (UInt64) throws -> [UInt8]?
    ) rethrows -> (dictionary: UInt64, fingerprint: UInt64, content: ArraySlice<UInt8>)? {
        let count = block.byteCount
        guard (Self.shortest...FrameDecoder.limit).contains(count) else { return nil }
        let limit = Self.limit(for: count)
        guard let dictionary, let digest = try digest(dictionary, bytes) else {
            guard count >= Self.shortestWithoutDictionary,
                let content = compressor.compress(block, with: nil, limit: limit)
            else { return nil }
            return (FrameDecoder.noDictionary, 0, content)
        }
        guard let content = compressor.compress(block, with: digest, limit: limit) else {
            return nil
        }
        return (dictionary.number, dictionary.fingerprint, content)
    }

    private func digest(
        _ dictionary: (number: UInt64, fingerprint: UInt64), _ bytes: (UInt64) throws -> [UInt8]?
    ) rethrows -> CompressionDigest? {
        // A number that a failed transaction has given out may be given out again.
        if let known = digests[dictionary.number], known.fingerprint == dictionary.fingerprint {
            return known.digest
        }
        guard let bytes = try bytes(dictionary.number),
            let digest = CompressionDigest(bytes, level: level)
        else { return nil }
        digests[dictionary.number] = (dictionary.fingerprint, digest)
        return digest
    }

    /// Forgets the dictionaries that are not among `entries`, because this process or another one
    /// has deleted them.
    func forgetAll(except entries: [UInt64: DictionaryTable.Entry]) {
        guard digests.contains(where: { entries[$0.key] == nil }) else { return }
        digests = digests.filter { entries[$0.key] != nil }
    }
}

/// Decompresses and verifies the frames of one generation with its dictionaries.
///
/// Confined to one thread, and to the transaction from which `lookUp` reads.
package final class FrameDecoder {
    /// The most bytes to which one frame may decompress, even if a reader allows more.
    package static let limit = 256 << 20
    /// The number that stands for compression without a dictionary.
    package static let noDictionary: UInt64 = 1

    private let generation: Generation
    private let limit: Int
    /// Finds a dictionary that is not in memory.
    private let lookUp: (UInt64) throws -> StoredDictionary?

    private struct State {
        /// The dictionaries in memory, by number.
        var table: [RecordDictionary?]?
        /// Dictionaries that are not in the table yet.
        var found: [UInt64: RecordDictionary] = [:]
        var decompressor: Decompressor?
        /// The dictionary of the current frame: its index in `table`, or the dictionary itself.
        var position: Int?
        var dictionary: RecordDictionary?

        var digested: CompressionDictionary? {
            position.map { table?[$0]?.digested } ?? dictionary?.digested
        }
    }
    private let state = Confined(State())

    init(
        _ generation: Generation, limit: Int = limit,
        lookUp: @escaping (UInt64) throws -> StoredDictionary?
    ) {
        self.generation = generation
        self.limit = limit
        self.lookUp = lookUp
    }

    /// Makes a decoder that finds dictionaries in `snapshot`.
    package convenience init(_ generation: Generation, _ snapshot: Snapshot, limit: Int = limit) {
        self.init(generation, limit: min(limit, Self.limit)) { number in
            guard let stored = try snapshot.storedDictionary(generation.keyspaces, number) else {
                return nil
            }
            // All readers may use what is committed. A transaction under way may fail, and a later
            // one give the number to another dictionary.
            if try snapshot.commitNumber() != nil, let dictionary = RecordDictionary(stored.bytes) {
                // Another process has stored it, and may have deleted older ones.
                let numbers = try snapshot.dictionaryNumbers(generation.keyspaces)
                generation.dictionaries.removeAll(except: Set(numbers))
                generation.dictionaries.add(dictionary, number: number)
            }
            return stored
        }
    }

    deinit { state.value.decompressor?.giveBack() }

    /// Adds a dictionary that `lookUp` can't find.
    func add(_ dictionary: RecordDictionary, number: UInt64) {
        state.value.found[number] = dictionary
    }

    /// The dictionaries that were looked up or added. Those of a transaction under way are for all
    /// readers once it has succeeded.
    var foundDictionaries: [UInt64: RecordDictionary] { state.value.found }

    /// Returns the block of a frame.
    ///
    /// - Parameter shapes: Returns the shape of a number; nil if there is none.
    package func block(
        _ frame: ByteReader, first: Handle, shapes: (UInt64) throws -> Shape?
    ) throws -> RecordBlock {
        var content = frame
        let number = try content.varint()
        let end = frame.end - RecordLayout.checkSize
        guard content.position < end else { throw FormatError.truncated }
        var tail = frame
        tail.position = end
        let check = try tail.integer(UInt64.self)
        let range = content.position..<end
        guard number != 0 else {
            return try RecordBlock(
                RecordBuffer(frame, range), first: first, check: check, frameByteCount: frame.end,
                shapes: shapes)
        }
        let fingerprint = try choose(number)
        let buffer = try decompress(frame, range)
        return try RecordBlock(
            buffer, first: first, check: check, dictionary: fingerprint,
            frameByteCount: frame.end, shapes: shapes)
    }

    private func decompress(_ frame: ByteReader, _ range: Range<Int>) throws -> RecordBuffer {
        if state.value.decompressor == nil { state.value.decompressor = try Decompressor.borrow() }
        guard let decompressor = state.value.decompressor else {
            throw CompressionError.outOfMemory
        }
        let digested = state.value.digested
        do {
            let count = try frame.withBytes(range) { try decompressor.load($0, limit: limit) }
            return try RecordBuffer(count: count) { output in
                try decompressor.decompress(into: &output, with: digested)
            }
        } catch let error as CompressionError {
            throw Self.formatError(error)
        }
    }

    private static func formatError(_ error: CompressionError) -> any Error {
        switch error {
        case .corrupt(let detail): FormatError.corruptFrame(detail)
        case .tooLarge(let claimed?): FormatError.corruptFrame("it claims \(claimed) bytes")
        case .tooLarge(nil): FormatError.corruptFrame("it does not say how long it was")
        case .outOfMemory: error
        }
    }

    /// Chooses the dictionary for the next frame. Returns its fingerprint.
    private func choose(_ number: UInt64) throws -> UInt64 {
        if state.value.table == nil { state.value.table = generation.dictionaries.all }
        if let table = state.value.table, number < table.count,
            let dictionary = table[Int(number)]
        {
            state.value.position = Int(number)
            return dictionary.fingerprint
        }
        let dictionary = number == Self.noDictionary ? nil : try findDictionary(number)
        state.value.position = nil
        state.value.dictionary = dictionary
        return dictionary?.fingerprint ?? 0
    }

    private func findDictionary(_ number: UInt64) throws -> RecordDictionary {
        if let dictionary = state.value.found[number] { return dictionary }
        guard let stored = try lookUp(number), let dictionary = RecordDictionary(stored.bytes)
        else {
            throw FormatError.unknownDictionary(number)
        }
        state.value.found[number] = dictionary
        return dictionary
    }
}
