import EspalierCompression
import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// Expands the records of one generation with its dictionaries. Confined to a thread, and to the
/// transaction that `lookUp` is of.
final class RecordDecompressor: PayloadDecompressor {
    /// The most that one payload may expand to, whatever a reader allows.
    static let limit = 256 << 20

    /// Where decompressed records stand.
    let arena = RecordArena()
    private let generation: Generation
    private let lookUp: (UInt64) throws -> StoredDictionary?

    private struct State {
        /// Those in memory, by number.
        var table: [RecordDictionary?]?
        /// Dictionaries that are not in the table yet.
        var found: [UInt64: RecordDictionary] = [:]
        var decompressor: Decompressor?
        /// That of the payload under way: in the table, or beside it.
        var place: Int?
        var dictionary: RecordDictionary?

        var digested: CompressionDictionary? {
            place.map { table?[$0]?.digested } ?? dictionary?.digested
        }
    }
    private let state = Confined(State())

    private let limit: Int

    /// `lookUp` finds what is not in memory.
    init(
        _ generation: Generation, limit: Int = limit,
        lookUp: @escaping (UInt64) throws -> StoredDictionary?
    ) {
        self.generation = generation
        self.limit = limit
        self.lookUp = lookUp
    }

    /// Looks what is not in memory up in `snapshot`.
    convenience init(_ generation: Generation, _ snapshot: Snapshot, limit: Int = limit) {
        self.init(generation, limit: min(limit, Self.limit)) { number in
            guard let stored = try snapshot.storedDictionary(generation.keyspaces, number) else {
                return nil
            }
            // Committed, if the snapshot sees it.
            if let dictionary = RecordDictionary(stored.bytes) {
                generation.dictionaries.add(dictionary, number: number)
            }
            return stored
        }
    }

    deinit { state.value.decompressor?.giveBack() }

    /// Takes in a dictionary that `lookUp` can't find.
    func add(_ dictionary: RecordDictionary, number: UInt64) {
        state.value.found[number] = dictionary
    }

    func load(_ payload: RawSpan, dictionary number: UInt64) throws -> (
        byteCount: Int, fingerprint: UInt64
    ) {
        let fingerprint = try choose(number)
        if state.value.decompressor == nil { state.value.decompressor = try Decompressor.borrow() }
        do {
            return (try state.value.decompressor?.load(payload, limit: limit) ?? 0, fingerprint)
        } catch {
            throw Self.formatError(error)
        }
    }

    func decompress(into output: inout MutableRawSpan) throws {
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

    /// Takes the dictionary of that number for the next payload. Returns its fingerprint.
    private func choose(_ number: UInt64) throws -> UInt64 {
        if state.value.table == nil { state.value.table = generation.dictionaries.all }
        if let table = state.value.table, number < table.count, let dictionary = table[Int(number)]
        {
            state.value.place = Int(number)
            return dictionary.fingerprint
        }
        let dictionary = number == RecordLayout.noDictionary ? nil : try foundDictionary(number)
        state.value.place = nil
        state.value.dictionary = dictionary
        return dictionary?.fingerprint ?? 0
    }

    private func foundDictionary(_ number: UInt64) throws -> RecordDictionary {
        if let dictionary = state.value.found[number] { return dictionary }
        guard let stored = try lookUp(number), let dictionary = RecordDictionary(stored.bytes)
        else {
            throw FormatError.unknownDictionary(number)
        }
        state.value.found[number] = dictionary
        return dictionary
    }
}
