import EspalierCompression
import EspalierLMDB
import EspalierRecords

/// Expands the records of one generation with its dictionaries. Confined to a thread, and to the transaction that `lookUp` is of.
final class Expander: PayloadExpansion {
    /// The most that one payload may expand to, whatever a reader allows.
    static let limit = 256 << 20

    /// Where expanded records stand.
    let arena = RecordArena()
    private let generation: Generation
    private var known: [RecordDictionary?]?
    /// Dictionaries that are not in the table yet.
    private var found: [UInt64: RecordDictionary] = [:]
    private let lookUp: (UInt64) throws -> StoredDictionary?
    private var decompressor: Decompressor?
    private var dictionary: RecordDictionary?

    private let limit: Int

    /// `lookUp` finds what is not in memory.
    init(
        _ generation: Generation, limit: Int = limit, lookUp: @escaping (UInt64) throws -> StoredDictionary?
    ) {
        self.generation = generation
        self.limit = limit
        self.lookUp = lookUp
    }

    /// Looks what is not in memory up in `snapshot`.
    convenience init(_ generation: Generation, _ snapshot: Snapshot, limit: Int = limit) {
        self.init(generation, limit: min(limit, Self.limit)) { number in
            guard let stored = try snapshot.storedDictionary(generation.keyspaces, number) else { return nil }
            // Committed, if the snapshot sees it.
            if let dictionary = RecordDictionary(stored.bytes) {
                generation.dictionaries.add(dictionary, number: number)
            }
            return stored
        }
    }

    deinit { decompressor?.giveBack() }

    /// Takes in a dictionary that `lookUp` can't find.
    func add(_ dictionary: RecordDictionary, number: UInt64) { found[number] = dictionary }

    func load(_ payload: RawSpan, dictionary number: UInt64) throws -> (byteCount: Int, fingerprint: UInt64) {
        dictionary = number == RecordLayout.noDictionary ? nil : try dictionary(number)
        do {
            let decompressor = try decompressor ?? Decompressor.borrow()
            self.decompressor = decompressor
            return (try decompressor.load(payload, limit: limit), dictionary?.fingerprint ?? 0)
        } catch let error as CompressionError {
            throw Self.formatError(error)
        }
    }

    func expand(into output: inout MutableRawSpan) throws {
        do {
            try decompressor?.expand(into: &output, with: dictionary?.digested)
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

    private func dictionary(_ number: UInt64) throws -> RecordDictionary {
        let table = known ?? generation.dictionaries.all
        known = table
        if number < table.count, let dictionary = table[Int(number)] { return dictionary }
        if let dictionary = found[number] { return dictionary }
        guard let stored = try lookUp(number), let dictionary = RecordDictionary(stored.bytes) else {
            throw FormatError.unknownDictionary(number)
        }
        found[number] = dictionary
        return dictionary
    }
}
