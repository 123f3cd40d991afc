import EspalierStore
import Testing

/// Returns the code of the error that `body` throws; nil if it throws none.
func code(_ body: () throws -> Void) -> CacheError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CacheError)?.code
    }
}

/// Waits for the write. Returns the code with which it fails; nil if it is committed.
func code(_ ticket: WriteTicket) -> CacheError.Code? { code { try ticket.wait() } }

extension CacheError.Code {
    var isNotFlattened: Bool {
        if case .notFlattened = self { true } else { false }
    }
}
