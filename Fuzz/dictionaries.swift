import EspalierCompression
import EspalierRecords

@testable import EspalierStore

// Decompresses arbitrary frames with an arbitrary dictionary. The first two bytes are the length of
// the dictionary, which follows; then come a byte for the limit and the frame. The result must be
// an error, or as many bytes as the frame claims.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    guard bytes.count > 3 else { return 0 }
    let length = (Int(bytes[0]) << 8 | Int(bytes[1])) % (bytes.count - 2)
    let stored = Array(bytes[2..<2 + length])
    let frame = Array(bytes[(2 + length)...])
    join(stored)
    let dictionary = CompressionDictionary(stored)
    for dictionary in [dictionary, nil] { decompress(frame, with: dictionary) }
    if let dictionary { roundTrip(frame, with: dictionary) }
    return 0
}

private func join(_ bytes: [UInt8]) {
    var arbitrary = StoredDictionary.Joining(number: 2)
    _ = try? ByteReader.reading(bytes) { try arbitrary.add(&$0) }
    _ = try? arbitrary.finish()
    let stored = StoredDictionary(bytes: bytes)
    var joining = StoredDictionary.Joining(number: 2)
    do {
        for slice in stored.slices(number: 2, limit: 64) {
            try ByteReader.reading(slice) { try joining.add(&$0) }
        }
        let joined = try joining.finish()
        precondition(joined.bytes == bytes)
    } catch {
        fatalError("\(error)")
    }
}

private func decompress(_ frame: [UInt8], with dictionary: CompressionDictionary?) {
    guard let limit = frame.first.map({ Int($0) << 12 }),
        let decompressor = try? Decompressor.borrow()
    else { return }
    defer { decompressor.giveBack() }
    guard
        let claimed = try? decompressor.load(
            frame.span.bytes.extracting(droppingFirst: 1), limit: limit)
    else {
        return
    }
    precondition(claimed <= limit)
    var output = [UInt8](repeating: 0, count: claimed)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    try? decompressor.decompress(into: &bytes, with: dictionary)
}

/// Checks that a payload compressed with any dictionary is decompressed to the same bytes.
private func roundTrip(_ payload: [UInt8], with dictionary: CompressionDictionary) {
    guard let digest = CompressionDigest(dictionary.bytes, level: 3),
        let compressor = Compressor(level: 3),
        let frame = compressor.compress(
            payload.span.bytes, with: digest, limit: payload.count)
    else { return }
    do {
        let decompressor = try Decompressor.borrow()
        defer { decompressor.giveBack() }
        let count = try decompressor.load(Array(frame).span.bytes, limit: payload.count)
        var output = [UInt8](repeating: 0, count: count)
        do {
            var span = output.mutableSpan
            var bytes = span.mutableBytes
            try decompressor.decompress(into: &bytes, with: dictionary)
        }
        precondition(output == payload)
    } catch {
        fatalError("\(error)")
    }
}
