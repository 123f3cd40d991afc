import EspalierLMDB
import Foundation
import Testing

@Suite("Damaged meta pages")
struct DamagedHeadTests {
    /// Makes a file of some pages. Several commits have written both meta pages.
    func makeFile() throws -> (Scratch, Data) {
        let scratch = try Scratch()
        let environment = try scratch.open()
        for round in UInt64(0)..<5 {
            try environment.write { transaction in
                for key in 0..<UInt64(50) {
                    try transaction.put(environment.nodes, round * 50 + key, [1, 2, 3])
                }
            }
        }
        environment.close()
        return (scratch, try Data(contentsOf: URL(fileURLWithPath: scratch.data)))
    }

    func open(_ image: Data, in scratch: Scratch) throws -> LMDBError.Code? {
        try image.write(to: URL(fileURLWithPath: scratch.data))
        return code { try scratch.open().close() }
    }

    @Test("An intact file and an empty file can be opened")
    func sound() throws {
        let (scratch, image) = try makeFile()
        try #expect(open(image, in: scratch) == nil)
        try #expect(open(Data(), in: scratch) == nil)
    }

    @Test("A file that is cut off in its meta pages is refused")
    func cut() throws {
        let (scratch, image) = try makeFile()
        for length in [1, 15, 16, 151, 152, 4_095, 4_096, 4_247, 4_248, 8_192] {
            try #expect(open(image.prefix(length), in: scratch) != nil, "cut to \(length)")
        }
    }

    @Test("Wrong fields that would crash LMDB are refused in both meta pages")
    func fields() throws {
        let (scratch, image) = try makeFile()
        let pageSize = image.count >= 8_192 ? 4_096 : 0
        // Offset in the meta page, length of the field.
        for (offset, length) in [(10, 2), (16, 4), (20, 4), (40, 4)] {
            for meta in [0, pageSize] {
                for byte in [UInt8(0), 0xFF] {
                    var damaged = image
                    for index in 0..<length { damaged[meta + offset + index] = byte }
                    if offset == 10 && byte == 0xFF { continue }  // The flag stays set.
                    try #expect(
                        open(damaged, in: scratch) != nil, "\(offset) of \(meta) set to \(byte)")
                }
            }
        }
        for (offset, bytes) in [(80, 1), (128, 1), (136, 0xFF), (144, 0xFF), (46, 0xFF), (94, 0)]
            as [(Int, UInt8)]
        {
            var damaged = image
            for meta in [0, pageSize] {
                let width = offset == 46 || offset == 94 ? 2 : 8
                for index in 0..<width {
                    damaged[meta + offset + index] = index == 0 || bytes == 0xFF ? bytes : 0
                }
            }
            try #expect(open(damaged, in: scratch) != nil, "\(offset) set to \(bytes)")
        }
    }

    @Test("A file of random bytes is refused")
    func garbage() throws {
        let scratch = try Scratch()
        var random = PageTests.Sequence()
        for length in [1, 200, 4_096, 20_000] {
            let image = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
            try #expect(open(image, in: scratch) == .invalidFile)
        }
    }
}
