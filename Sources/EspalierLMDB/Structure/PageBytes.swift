#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Bytes of a file nobody vouches for: every load is checked against the end and throws beyond it.
struct PageBytes {
    var bytes: [UInt8]

    init(count: Int) {
        bytes = [UInt8](repeating: 0, count: count)
    }

    var count: Int { bytes.count }

    /// Reads as many bytes as there are here, all or nothing. A sector that can't be read is
    /// damage: LMDB would die on it.
    mutating func fill(from file: borrowing OpenFile, at offset: Int) throws(LMDBError) {
        do {
            guard try file.fill(&bytes, at: offset, .prepareFiles) else { throw LMDBError.damage }
        } catch {
            throw LMDBError.damage
        }
    }

    @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type)
        throws(LMDBError) -> T
    {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<T>.size else {
            throw LMDBError.damage
        }
        return unsafe bytes.withUnsafeBytes {
            unsafe $0.loadUnaligned(fromByteOffset: offset, as: type)
        }
    }

    /// Less than 0, 0, or more than 0, in LMDB's order: by bytes, a prefix first.
    @inline(__always)
    static func compare(
        _ a: PageBytes, _ aRange: Range<Int>, _ b: PageBytes, _ bRange: Range<Int>
    ) throws(LMDBError) -> Int {
        guard a.holds(aRange), b.holds(bRange) else { throw LMDBError.damage }
        let order = unsafe a.bytes.withUnsafeBytes { first in
            unsafe b.bytes.withUnsafeBytes { second in
                unsafe memcmp(
                    // neither is empty, or it would hold no range
                    first.baseAddress! + aRange.lowerBound,
                    second.baseAddress! + bRange.lowerBound,  // likewise
                    min(aRange.count, bRange.count))
            }
        }
        return order == 0 ? aRange.count - bRange.count : Int(order)
    }

    private func holds(_ range: Range<Int>) -> Bool {
        !bytes.isEmpty && range.lowerBound >= 0 && range.upperBound <= bytes.count
    }

    /// Keeps a copy of a part of `other` at the front.
    mutating func copy(_ range: Range<Int>, of other: PageBytes) throws(LMDBError) {
        guard other.holds(range), range.count <= bytes.count else { throw LMDBError.damage }
        bytes.replaceSubrange(0..<range.count, with: other.bytes[range])
    }
}

extension LMDBError {
    static var damage: LMDBError { LMDBError(.corrupted, .prepareFiles) }
}
