import EspalierLMDB
import EspalierRecords
import Synchronization

/// Shapes of one generation in memory: for readers a growing table from number to shape.
///
/// A number never gets another shape, so an entry is right for ever; what is missing, because another process wrote it or
/// the commit was a moment ago, is read from the reader's own snapshot. Nothing enters before its commit.
final class ShapeTable: Sendable {
    /// Numbers are dense at first; a cache that has gone through more shapes than this reads the later ones anew.
    private static let capacity = 1 << 14

    private let shapes = Mutex<[Shape?]>([])

    /// The table as it is, by number: a read takes it once and needs no lock for a record.
    var all: [Shape?] { shapes.withLock { $0 } }

    func add(_ shape: Shape, number: UInt64) {
        guard number < Self.capacity else { return }
        shapes.withLock { shapes in
            let missing = Int(number) + 1 - shapes.count
            if missing > 0 { shapes.append(contentsOf: repeatElement(nil, count: missing)) }
            shapes[Int(number)] = shape
        }
    }

    func remove(_ number: UInt64) {
        shapes.withLock { shapes in
            if number < shapes.count { shapes[Int(number)] = nil }
        }
    }
}
