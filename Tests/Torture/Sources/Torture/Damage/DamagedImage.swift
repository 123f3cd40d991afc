import Foundation

/// A copy of `data.mdb` with damage.
struct DamagedImage {
    enum Kind: CaseIterable {
        case bit, bits, head, sectorOfZeros, pageOfZeros, pagesOfZeros, pageOfOnes, randomPage
        case randomHalf, swap, misdirected, shifted, stalePage, stalePages, firstMeta, secondMeta
        case swappedMetas, staleMetas, cut, cutInPage, tailOfZeros, grown
    }

    private static let page = 4_096
    private static let sector = 512

    private(set) var bytes: [UInt8]
    /// The same file some writes before, for pages that a drive has not written.
    private let old: [UInt8]

    init(new: Data, old: Data) {
        bytes = [UInt8](new)
        self.old = [UInt8](old)
    }

    private var pages: Int { bytes.count / Self.page }

    mutating func apply(_ kind: Kind, _ random: inout Random) {
        let (first, second) = (somePage(&random), somePage(&random))
        switch kind {
        case .bit: flip(0..<bytes.count, &random)
        case .bits: for _ in 0..<64 { flip(0..<bytes.count, &random) }
        // The type of a page and the bounds of its entries stand in its first 16 bytes.
        case .head: flip(first.prefix(16), &random)
        case .sectorOfZeros:
            fill(first.dropFirst(Self.sector * random.below(8)).prefix(Self.sector), 0)
        case .pageOfZeros: fill(first, 0)
        case .pagesOfZeros: for _ in 0..<4 { fill(somePage(&random), 0) }
        case .pageOfOnes: fill(first, 0xFF)
        case .randomPage: scramble(first, &random)
        case .randomHalf: scramble(first.prefix(Self.page / 2), &random)
        case .swap: swap(first, second)
        case .misdirected: bytes.replaceSubrange(second, with: bytes[first])
        case .shifted:
            let kept = Array(bytes[first].dropLast(Self.sector))
            bytes.replaceSubrange(first.dropFirst(Self.sector), with: kept)
        case .stalePage: bringBack(first)
        case .stalePages: for _ in 0..<8 { bringBack(somePage(&random)) }
        case .firstMeta: fill(0..<Self.page, 0)
        case .secondMeta: scramble(Self.page..<2 * Self.page, &random)
        case .swappedMetas: swap(0..<Self.page, Self.page..<2 * Self.page)
        case .staleMetas: bringBack(0..<2 * Self.page)
        case .cut: bytes.removeLast((1 + random.below(pages - 1)) * Self.page)
        case .cutInPage: bytes.removeLast(1 + random.below(bytes.count - 1))
        case .tailOfZeros:
            fill(bytes.count - Self.page * (1 + random.below(pages / 2))..<bytes.count, 0)
        case .grown:
            bytes += (0..<Self.page * 2).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
    }

    /// Gives the file its size back. What was cut off is zeros.
    mutating func restoreSize(of other: Data) {
        bytes = Array(bytes.prefix(other.count))
        bytes += [UInt8](repeating: 0, count: other.count - bytes.count)
    }

    private func somePage(_ random: inout Random) -> Range<Int> {
        let start = random.below(pages) * Self.page
        return start..<start + Self.page
    }

    private mutating func flip(_ range: Range<Int>, _ random: inout Random) {
        bytes[Int.random(in: range, using: &random)] ^= 1 << UInt8(random.below(8))
    }

    private mutating func fill(_ range: Range<Int>, _ byte: UInt8) {
        for index in range { bytes[index] = byte }
    }

    private mutating func scramble(_ range: Range<Int>, _ random: inout Random) {
        for index in range { bytes[index] = UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func swap(_ first: Range<Int>, _ second: Range<Int>) {
        let (a, b) = (Array(bytes[first]), Array(bytes[second]))
        bytes.replaceSubrange(first, with: b)
        bytes.replaceSubrange(second, with: a)
    }

    private mutating func bringBack(_ range: Range<Int>) {
        guard range.upperBound <= old.count else { return }
        bytes.replaceSubrange(range, with: old[range])
    }
}
