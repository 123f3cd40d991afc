import EspalierLMDB
import EspalierRecords
import Synchronization

/// Shapes of one generation in memory: for readers a growing map from number to shape.
///
/// A number never gets another shape, so an entry is right for ever; what is missing, because another process wrote it or
/// the commit was a moment ago, is read from the reader's own snapshot. Nothing enters before its commit.
final class ShapeTable: Sendable {
    private let shapes = Mutex<[UInt64: Shape]>([:])

    func shape(_ number: UInt64) -> Shape? { shapes.withLock { $0[number] } }

    func add(_ shape: Shape, number: UInt64) { shapes.withLock { $0[number] = shape } }

    func remove(_ number: UInt64) { _ = shapes.withLock { $0.removeValue(forKey: number) } }
}
