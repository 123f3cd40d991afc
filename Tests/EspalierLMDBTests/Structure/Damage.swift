import Foundation

/// Ways a file may be damaged.
enum Damage: CaseIterable, Sendable {
    case bitAnywhere, bitInHeader, bitInMeta, bitInPointers, zeroedPage, randomPage, halfRandomPage,
        swappedPages,
        copiedPage
    case manyBits, cutAtPage, cutAnywhere, zeros, random, wrongRoot, wrongCount, wordInPage

    func apply(to image: Data, _ random: inout PageTests.Sequence) -> Data {
        let page = 4_096
        let pages = image.count / page
        var image = image
        func anyPage(from first: Int = 0) -> Int {
            Int.random(in: min(first, pages - 1)..<pages, using: &random) * page
        }
        func flip(_ range: Range<Int>) {
            image[Int.random(in: range, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
        func scramble(_ range: Range<Int>) {
            let words = (0..<range.count / 8 + 1).map { _ in random.next() }
            image.replaceSubrange(
                range, with: unsafe words.withUnsafeBytes { unsafe Data($0) }.prefix(range.count))
        }
        switch self {
        case .bitAnywhere: flip(0..<image.count)
        case .bitInHeader:
            let start = anyPage()
            flip(start..<start + 16)
        case .bitInMeta:
            let start = Int.random(in: 0...1, using: &random) * page
            flip(start..<start + 152)
        case .bitInPointers:
            let start = anyPage(from: 2)
            flip(start + 12..<start + 64)
        case .zeroedPage:
            let start = anyPage()
            image.replaceSubrange(start..<start + page, with: Data(count: page))
        case .randomPage:
            let start = anyPage()
            scramble(start..<start + page)
        case .halfRandomPage:
            let start = anyPage() + Int.random(in: 0...1, using: &random) * page / 2
            scramble(start..<start + page / 2)
        case .swappedPages, .copiedPage:
            let (a, b) = (anyPage(), anyPage())
            let (first, second) = (Data(image[a..<a + page]), Data(image[b..<b + page]))
            image.replaceSubrange(a..<a + page, with: second)
            if self == .swappedPages { image.replaceSubrange(b..<b + page, with: first) }
        case .manyBits: for _ in 0..<64 { flip(0..<image.count) }
        case .cutAtPage:
            image = Data(image.prefix(Int.random(in: 0..<pages, using: &random) * page))
        case .cutAnywhere:
            image = Data(image.prefix(Int.random(in: 1..<image.count, using: &random)))
        case .zeros: image = Data(count: image.count)
        case .random: scramble(0..<image.count)
        case .wrongRoot, .wrongCount:
            // The numbers of both trees that both metas name: roots, or what they count.
            let fields =
                self == .wrongRoot
                ? [80, 128] : [46, 48, 56, 64, 72, 94, 96, 104, 112, 120, 136, 144]
            let field = fields[Int.random(in: 0..<fields.count, using: &random)]
            for start in [0, page] {
                image[start + field] &+= UInt8.random(in: 1...255, using: &random)
            }
        case .wordInPage:
            let start = anyPage(from: 2) + Int.random(in: 0..<page / 2, using: &random) * 2
            scramble(start..<start + 2)
        }
        return image
    }
}
