import EspalierCompression
import EspalierConfinement
package import EspalierLMDB
package import EspalierRecords

/// Compresses payloads at one level, if that saves enough. Keeps contexts and digested dictionaries
/// between commits.
///
/// `@unchecked Sendable` because it is confined to the thread that commits.
final class RecordCompressor: @unchecked Sendable {
    /// Shorter payloads stay raw: a frame takes five bytes of its own.
    static let shortest = 24
    /// Without a dictionary, compressing a shorter payload saves too little.
    static let shortestWithoutDictionary = 192

    private let level: Int
    private let compressor: Compressor
    private var digests: [UInt64: (fingerprint: UInt64, digest: CompressionDigest)] = [:]

    /// Returns nil if records are not to be compressed, or if memory runs out.
    init?(_ compression: Compression) {
        guard case .zstd(let level) = compression, let compressor = Compressor(level: level) else {
            return nil
        }
        self.level = level
        self.compressor = compressor
    }

    /// Returns the most bytes that a frame may have: compression has to save an eighth.
    static func limit(for payload: [UInt8]) -> Int {
        payload.count - max(payload.count / 8, 4)
    }

    /// Returns the frame of a payload; nil if it saves too little. `bytes` returns the bytes of a
    /// dictionary that is not digested yet.
    func compress(
        _ payload: [UInt8], with dictionary: (number: UInt64, fingerprint: UInt64)?,
        bytes: (UInt64) throws -> [UInt8]?
    ) rethrows -> RecordLayout.CompressedPayload? {
        guard (Self.shortest...RecordDecompressor.limit).contains(payload.count) else { return nil }
        let limit = Self.limit(for: payload)
        guard let dictionary, let digest = try digest(dictionary, bytes) else {
            guard payload.count >= Self.shortestWithoutDictionary,
                let frame = compressor.compress(payload, with: nil, limit: limit)
            else { return nil }
            return .init(
                dictionary: RecordLayout.noDictionary, fingerprint: 0, frame: frame, of: payload)
        }
        guard let frame = compressor.compress(payload, with: digest, limit: limit) else {
            return nil
        }
        return .init(
            dictionary: dictionary.number, fingerprint: dictionary.fingerprint, frame: frame,
            of: payload)
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

/// Decompresses the records of one generation with its dictionaries.
///
/// Confined to one thread, and to the transaction from which `lookUp` reads.
package final class RecordDecompressor: PayloadDecompressor {
    /// The most bytes to which one payload may decompress, even if a reader allows more.
    package static let limit = 256 << 20

    /// The memory of decompressed records.
    package let arena = RecordArena()
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
        /// The dictionary of the current payload: its index in `table`, or the dictionary itself.
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

    /// Makes a decompressor that finds dictionaries in `snapshot`.
    package convenience init(_ generation: Generation, _ snapshot: Snapshot, limit: Int = limit) {
        self.init(generation, limit: min(limit, Self.limit)) { number in
            guard let stored = try snapshot.storedDictionary(generation.keyspaces, number) else {
                return nil
            }
            // A snapshot sees only committed dictionaries, so all readers may use them.
            if let dictionary = RecordDictionary(stored.bytes) {
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

    package func load(
        _ payload: RawSpan, dictionary number: UInt64
    ) throws -> (byteCount: Int, fingerprint: UInt64) {
        let fingerprint = try choose(number)
        if state.value.decompressor == nil { state.value.decompressor = try Decompressor.borrow() }
        do {
            let byteCount = try state.value.decompressor?.load(payload, limit: limit)
            return (byteCount ?? 0, fingerprint)
        } catch {
            throw Self.formatError(error)
        }
    }

    package func decompress(into output: inout MutableRawSpan) throws {
        do {
            try state.value.decompressor?.decompress(into: &output, with: state.value.digested)
        } catch {
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

    /// Chooses the dictionary for the next payload. Returns its fingerprint.
    private func choose(_ number: UInt64) throws -> UInt64 {
        if state.value.table == nil { state.value.table = generation.dictionaries.all }
        if let table = state.value.table, number < table.count,
            let dictionary = table[Int(number)]
        {
            state.value.position = Int(number)
            return dictionary.fingerprint
        }
        let dictionary = number == RecordLayout.noDictionary ? nil : try findDictionary(number)
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
