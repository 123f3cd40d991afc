import Dispatch
import EspalierModels
import EspalierRecords
@testable import EspalierStore

/// A model whose encoding waits: while it does, the writer stands still and writes pile up behind it.
struct Gate: NormalizedModel {
    private static let patience = DispatchTimeInterval.seconds(30)

    private let isReached = DispatchSemaphore(value: 0)
    private let isOpen = DispatchSemaphore(value: 0)
    let modelIdentifier: String? = "Gate:1"

    init() {}

    init(from decoder: inout RecordDecoder) throws {}

    func encode(to encoder: inout RecordEncoder) throws {
        isReached.signal()
        _ = isOpen.wait(timeout: .now() + Self.patience)
        try encoder.encode(true, forKey: "passed")
    }

    func open() { isOpen.signal() }

    fileprivate func waitUntilReached() { _ = isReached.wait(timeout: .now() + Self.patience) }
}

/// Runs `body` while the writer of `cache` stands still, so that everything it submits is queued when it ends.
func withBlockedWriter<R>(_ cache: NormalizedCache, _ body: () throws -> R) throws -> R {
    try cache.engine.queue.catchUp()
    let gate = Gate()
    let ticket = cache.set(gate)
    gate.waitUntilReached()
    defer { gate.open() }
    let result = try body()
    gate.open()
    try ticket.wait()
    return result
}
