import EspalierCompression
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Frames of compressed payloads")
struct CompressorTests {
    private static let samples = (0..<400).map {
        Array("a sample of text, number \($0), like all the others".utf8)
    }

    private func dictionary(_ text: String) throws -> [UInt8] {
        let samples = (0..<400).map { Array("\(text) \($0), \($0 * 7) and \(text)".utf8) }
        return try #require(DictionaryTrainer.train(samples, size: 2_048))
    }

    private func compress(
        _ block: [UInt8], _ digest: CompressionDigest?, limit: Int, by compressor: Compressor
    ) -> ArraySlice<UInt8>? {
        unsafe compressor.compress(block.span.bytes, with: digest, limit: limit)
    }

    private func decompress(
        _ frame: some Collection<UInt8>, _ dictionary: [UInt8]?, limit: Int = 1 << 20
    ) throws -> [UInt8] {
        let frame = Array(frame)
        let decompressor = try Decompressor()
        let count = try ByteReader.reading(frame) { reader in
            try reader.withBytes(0..<reader.end) { try decompressor.load($0, limit: limit) }
        }
        var output = [UInt8](repeating: 0, count: count)
        var span = output.mutableSpan
        var bytes = unsafe span.mutableBytes
        try decompressor.decompress(
            into: &bytes, with: dictionary.flatMap { CompressionDictionary($0) })
        return output
    }

    @Test("A payload that was too long for its limit leaves nothing behind in the compressor")
    func unfit() throws {
        let compressor = try #require(Compressor(level: 3))
        let (first, second) = (
            try dictionary("apples and pears"), try dictionary("quite another thing")
        )
        let digests = [first, second].map { CompressionDigest($0, level: 3) }
        let noise = (0..<200).map { _ in UInt8.random(in: 0...255) }
        for round in 0..<50 {
            let dictionary = round % 2 == 0 ? first : second
            #expect(compress(noise, digests[(round + 1) % 2], limit: 40, by: compressor) == nil)
            let payload = Array("quite another thing \(round), apples and pears \(round)".utf8)
            let made = compress(payload, digests[round % 2], limit: 100, by: compressor)
            let frame = try #require(made)
            #expect(try decompress(frame, dictionary) == payload)
        }
    }

    @Test("A frame that claims more than its limit is refused before memory is allocated for it")
    func claims() throws {
        // A frame header with a content size of 8 bytes: 4 GB.
        let claim: [UInt8] = [0xE0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]
        #expect(throws: CompressionError.tooLarge(claimed: 1 << 32)) { try decompress(claim, nil) }
        let compressor = try #require(Compressor(level: 3))
        let payload = [UInt8](repeating: 7, count: 4_000)
        let frame = try #require(compress(payload, nil, limit: 4_000, by: compressor))
        #expect(throws: CompressionError.tooLarge(claimed: 4_000)) {
            try decompress(frame, nil, limit: 3_999)
        }
        #expect(try decompress(frame, nil, limit: 4_000) == payload)
        // A frame that decompresses to more than the reader's limit is never made.
        #expect(
            compress([UInt8](repeating: 7, count: 4 << 20), nil, limit: 4 << 20, by: compressor)
                == nil)
    }

    @Test("A frame that is cut off or read with another dictionary never gives the payload")
    func wrong() throws {
        let compressor = try #require(Compressor(level: 3))
        let (first, second) = (
            try dictionary("apples and pears"), try dictionary("quite another thing")
        )
        let payload = Array("apples and pears 17, 119 and apples and pears".utf8)
        let digest = try #require(CompressionDigest(first, level: 3))
        let frame = Array(
            try #require(compress(payload, digest, limit: payload.count, by: compressor)))
        for count in 0..<frame.count {
            #expect(throws: CompressionError.self) { try decompress(frame[..<count], first) }
        }
        #expect((try? decompress(frame, second)) != payload)
        #expect((try? decompress(frame, [UInt8](repeating: 0, count: 500))) != payload)
        #expect(throws: CompressionError.self) { try decompress(frame + frame, first) }
    }

    @Test("Samples that are too few or too short, or a size that is too small, make no dictionary")
    func untrainable() {
        #expect(DictionaryTrainer.train(Self.samples.prefix(3), size: 2_048) == nil)
        #expect(DictionaryTrainer.train([[UInt8]](), size: 2_048) == nil)
        #expect(DictionaryTrainer.train([[UInt8]](repeating: [], count: 100), size: 2_048) == nil)
        #expect(DictionaryTrainer.train(Self.samples, size: 10) == nil)
    }
}
