import EspalierStore
import Testing

/// The code of the error that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> CacheError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CacheError)?.code
    }
}

/// The code with which the write fails; nil when it is committed.
func code(_ ticket: WriteTicket) -> CacheError.Code? { code { try ticket.wait() } }

extension CacheError.Code {
    var isNotFlattened: Bool {
        if case .notFlattened = self { true } else { false }
    }
}
