import EspalierLMDB
import EspalierRecords
import Synchronization

/// Whether records of a cache may expire: the entry `expiry` in the keyspace `info`.
///
///     no entry    no record was ever written that may expire
///     1           only records whose types say so, so that reads of other types need not look
///     other       any record may
///
/// The entry is never removed.
enum ExpiryMark: UInt8, Comparable {
    case none = 0
    case typed = 1
    case any = 2

    static let key = [UInt8]("expiry".utf8)

    static func < (a: ExpiryMark, b: ExpiryMark) -> Bool { a.rawValue < b.rawValue }
}

extension ReadableTransaction where Self: ~Copyable {
    func expiryMark(_ keyspaces: Keyspaces) throws -> ExpiryMark {
        let stored = try value(keyspaces.info, ExpiryMark.key)
        guard let stored else { return .none }
        return stored == [ExpiryMark.typed.rawValue] ? .typed : .any
    }
}

extension Generation {
    /// Whether records may expire whose types do not say so. Looks once for each commit.
    func hasUntypedAges(in transaction: borrowing ReadTransaction) -> Bool {
        let number = transaction.number << 1
        let known = untypedAges.load(ordering: .relaxed)
        if known & 1 == 1 { return true }
        if known == number { return false }
        // Where that can't be read, nothing else can.
        let isAny = (try? transaction.expiryMark(keyspaces)) == .any
        untypedAges.store(isAny ? number | 1 : number, ordering: .relaxed)
        return isAny
    }
}
