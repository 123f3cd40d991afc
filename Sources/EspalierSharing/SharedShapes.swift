import EspalierRecords
import Synchronization

/// The shapes of shared records, by fingerprint. All threads may use it.
///
/// A host keeps every shape that it has met. Shapes never change under their fingerprint, so they
/// are never stale.
public final class SharedShapes: Sendable {
    private struct State {
        var shapes: [Shape] = []
        var numbers: [UInt64: Int] = [:]
    }
    private let state = Mutex(State())

    /// Makes an empty table.
    public init() {}

    /// Adds the shape that `description` describes.
    ///
    /// - Parameters:
    ///   - description: The bytes of the shape, as a server has them.
    ///   - fingerprint: The fingerprint under which the server has them.
    /// - Returns: Whether the bytes are those of a shape with that fingerprint.
    @discardableResult
    public func add(_ description: [UInt8], fingerprint: UInt64) -> Bool {
        let shape = try? ByteReader.reading(description) { reader in
            let shape = try Shape.read(from: &reader)
            return reader.isAtEnd ? shape : nil
        }
        guard let shape, shape.fingerprint == fingerprint else { return false }
        add(shape)
        return true
    }

    func add(_ shape: Shape) {
        state.withLock { state in
            guard state.numbers[shape.fingerprint] == nil else { return }
            state.shapes.append(shape)
            // Number 0 stands for no shape in a record.
            state.numbers[shape.fingerprint] = state.shapes.count
        }
    }

    func shape(_ fingerprint: UInt64) -> Shape? {
        state.withLock { state in state.numbers[fingerprint].map { state.shapes[$0 - 1] } }
    }

    /// Returns the number of a shape in this process, and the shape that stands for all its equals.
    func number(of shape: Shape) -> UInt64 {
        if let known = state.withLock({ $0.numbers[shape.fingerprint] }) { return UInt64(known) }
        add(shape)
        return state.withLock { UInt64($0.numbers[shape.fingerprint] ?? 0) }
    }

    func shape(number: UInt64) -> Shape? {
        state.withLock { state in
            number >= 1 && number <= state.shapes.count ? state.shapes[Int(number) - 1] : nil
        }
    }
}

/// A hybrid logical clock (Kulkarni et al., 2014): close to the wall clock, and later than every
/// version that it has seen.
///
/// ```swift
/// let clock = HybridClock(host: 7)
/// let version = clock.next(after: stored.version)  // later than `stored.version` in any case
/// ```
///
/// All threads may use it.
public final class HybridClock: Sendable {
    private let host: UInt64
    private let milliseconds: @Sendable () -> UInt64
    private let last = Mutex<UInt64>(0)

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - host: The number of the host, which no other host has.
    ///   - milliseconds: Returns the time of the wall clock in milliseconds since 1970.
    public init(host: UInt64, milliseconds: @escaping @Sendable () -> UInt64) {
        self.host = host
        self.milliseconds = milliseconds
    }

    /// Returns a version that is later than all before, and than `seen`.
    ///
    /// - Parameter seen: The latest version of the records that are to be replaced; nil for none.
    public func next(after seen: RecordVersion? = nil) -> RecordVersion {
        let now = milliseconds() << 16
        return last.withLock { last in
            last = max(now, last + 1, (seen?.time ?? 0) + 1)
            return RecordVersion(time: last, host: host)
        }
    }
}
