import EspalierCompression
import EspalierRecords
import Foundation

// Writes the seeds of the corpora: small inputs that reach much code, in the form of each target.
@main
struct Seeds {
    static func main() throws {
        let root = URL(filePath: CommandLine.arguments[1])
        func write(_ bytes: [UInt8], _ target: String, _ name: String) throws {
            let folder = root.appending(path: target)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(bytes).write(to: folder.appending(path: name))
        }
        for (name, nameSpace, shape, values) in records {
            let record = RecordLayout.build(
                handle: Handle(2), nameSpace: nameSpace, shape: shape,
                children: [Handle(2), Handle(3), Handle(7)],
                identifier: "x", values: values)
            try write([0b10] + record, "records", name)
            var block = ByteWriter()
            ByteReader.reading(record) { reader in
                let entry = BlockRecord(handle: Handle(2), bytes: reader, shape: BlockShape(shape))
                RecordBlock.write([entry], to: &block)
            }
            try write([0b11] + block.bytes, "records", "block-\(name)")
            if case .number(let number, _) = shape {
                try write([UInt8(number) | 0x30] + values, "codable", name)
            }
        }
        let chunks = ByteReader.reading([UInt8](repeating: 7, count: 90)) {
            Chunks.split($0, handle: Handle(2), limit: 64)
        }
        for (number, chunk) in chunks.enumerated() {
            try write([0b10] + chunk, "records", "chunk-\(number)")
        }
        try write(
            [0x30]
                + bytes {
                    $0.append(value: "1")
                    $0.append([0x81, 0xA3])
                    $0.append(utf8: "one")
                    $0.append([0x80])
                },
            "codable", "enum")
        try writeDictionaries(write)
    }

    private static func bytes(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        body(&writer)
        return writer.bytes
    }

    private static var records: [(String, NameSpace, RecordLayout.ShapeReference, [UInt8])] {
        let note = Shape(type: "Note", fields: ["id", "author"])
        let person = Shape(type: "Person", fields: ["id", "name"])
        let thing = Shape(
            type: "Thing", fields: ["id", "list", "map", "number", "child", "text", "date"])
        let things: [UInt8] =
            [
                0xA1, 0x78, 0x93, 0xC0, 0xD4, 0x01, 0x00, 0xD4, 0x01, 0x02, 0x81, 0x05, 0x91, 0xCB,
                0x3F, 0xF0, 0, 0, 0,
                0, 0, 0,
            ]
            + [0xC7, 0x04, 0x02, 0x31, 0x39, 0x2E, 0x39, 0xD4, 0x01, 0x00, 0xA8]
            + Array("file:///".utf8)
            + [0xCB, 0x41, 0xC0, 0, 0, 0, 0, 0, 0]
        return [
            (
                "note", .node, .number(1, note),
                bytes {
                    $0.append(value: "9")
                    $0.append([0xD4, 0x01, 0x00])
                }
            ),
            (
                "person", .node, .number(2, person),
                bytes {
                    $0.append(value: "1")
                    $0.append(value: "Ada")
                }
            ),
            ("thing", .node, .number(3, thing), things),
            (
                "own", .node, .own(person),
                bytes {
                    $0.append(value: "1")
                    $0.append([0xC1])
                }
            ),
            ("key", .key, .none, [0xD4, 0x01, 0x00]),
            ("collection", .collection, .none, [0x91, 0x03]),
            ("segment", .segment, .none, [0x93, 0xD4, 0x01, 0x00, 0xC0, 0x80]),
        ]
    }

    private static func writeDictionaries(_ write: ([UInt8], String, String) throws -> Void) throws
    {
        let samples = (0..<400).map {
            [UInt8]("{\"id\":\"Person:\($0)\",\"name\":\"number \($0 % 17)\"}".utf8)
        }
        let payload = samples[7] + samples[8]
        let trained = DictionaryTrainer.train(samples, size: 512) ?? []
        for (name, dictionary) in [
            ("trained", trained), ("content", Array(samples[3])),
            ("zeros", [UInt8](repeating: 0, count: 64)),
            ("none", []),
        ] {
            let digest = CompressionDigest(dictionary, level: 3)
            guard let compressor = Compressor(level: 3),
                let frame = compressor.compress(
                    payload.span.bytes, with: dictionary.isEmpty ? nil : digest,
                    limit: payload.count)
            else { continue }
            var bytes = [UInt8(dictionary.count >> 8), UInt8(dictionary.count & 0xFF)]
            bytes += dictionary
            bytes.append(1)
            bytes += frame
            try write(bytes, "dictionaries", name)
        }
    }
}
