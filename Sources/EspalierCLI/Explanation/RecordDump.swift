#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The stored bytes of a record by part, as `get --raw` prints them.
///
/// Sixteen bytes per line, with their offset. The dump begins with the frame that holds the record,
/// as stored: in a container together with other records, or in chunks. It then shows the bytes of
/// the record alone, decompressed.
struct RecordDump {
    let identifier: String
    let anatomy: RecordAnatomy

    fileprivate struct Section {
        let name: String
        /// The meaning of the bytes.
        var meaning = ""
        let offset: Int
        let bytes: ArraySlice<UInt8>
    }

    private static let shownChildren = 8

    private var sections: [Section] {
        anatomy.chunks.flatMap(frame) + frame + anatomy.parts.map(section)
    }

    /// Returns the head and the check of a chunk.
    private func frame(of chunk: RecordAnatomy.Chunk) -> [Section] {
        let head = chunk.bytes[..<chunk.slice.lowerBound]
        let check = chunk.bytes[chunk.slice.upperBound...]
        let meaning = chunk.number == 0 ? "of \(anatomy.namedChunks ?? 0)" : ""
        return [
            Section(name: "chunk \(chunk.number)", meaning: meaning, offset: 0, bytes: head),
            Section(
                name: "chunk \(chunk.number) check",
                meaning: chunk.isIntact ? "" : "does not match", offset: chunk.slice.upperBound,
                bytes: check),
        ]
    }

    /// The frame that holds the record, as stored.
    private var frame: [Section] {
        guard !anatomy.frame.isEmpty else { return [] }
        return [
            Section(name: "frame", meaning: frameMeaning, offset: 0, bytes: anatomy.frame[...])
        ]
    }

    private var frameMeaning: String {
        var parts: [String] = []
        if let place = anatomy.place, let index = place.frameIndex, let count = place.frameCount {
            parts.append("\(index + 1) of \(count) in container \(place.key)")
        }
        if let count = anatomy.blockCount { parts.append(counted(count, "record", "records")) }
        switch anatomy.dictionaryNumber {
        case nil: break
        case 0?: parts.append("not compressed")
        case FrameDecoder.noDictionary?: parts.append("zstd without a dictionary")
        case let number?: parts.append("zstd with dictionary \(number)")
        }
        return parts.joined(separator: ", ")
    }

    private func section(of part: RecordAnatomy.Part) -> Section {
        Section(
            name: part.name.rawValue, meaning: meaning(of: part.name),
            offset: part.range.lowerBound, bytes: anatomy.bytes[part.range])
    }

    private func meaning(of name: RecordAnatomy.PartName) -> String {
        switch name {
        case .flags: anatomy.flagNames.joined(separator: ", ")
        case .shape: anatomy.shapeName ?? ""
        case .children: children
        case .payload: "\(anatomy.part(.payload)?.count ?? 0) bytes"
        case .rest: "after damage"
        case .extensions: ""
        }
    }

    private var children: String {
        let children = anatomy.children ?? []
        let shown = children.prefix(Self.shownChildren).map(\.description).joined(separator: " ")
        return shown + (children.count > Self.shownChildren ? " … \(children.count)" : "")
    }
}

extension RecordDump: Printable {
    /// The dump for a person, with a heading per part, so that lines fit into 80 columns.
    var shown: Report {
        Report(
            .list, columns: [.right("offset"), .left("bytes"), .left("text")],
            rows: sections.flatMap { section in
                let heading =
                    section.meaning.isEmpty ? section.name : "\(section.name): \(section.meaning)"
                return [[.nothing, .text(heading, .name), .nothing]] + section.lines
            })
    }

    var report: Report {
        Report(
            .list,
            columns: [
                .left("part"), .left("meaning"), .right("offset"), .left("bytes"), .left("text"),
            ],
            rows: sections.flatMap { section in
                section.lines.map { [.text(section.name), .text(section.meaning)] + $0 }
            })
    }

    /// The dump with one string of hex digits per part. `jq -r '.parts[].bytes' | xxd -r -p` is the
    /// record.
    var json: JSONValue {
        [
            "identifier": .string(identifier),
            "handle": .number(Int(clamping: anatomy.handle.rawValue)),
            "problem": .string(anatomy.problem),
            "storedBytes": .number(anatomy.storedByteCount),
            "container": anatomy.place.map { .number(Int(clamping: $0.key.rawValue)) } ?? .null,
            "chunks": .array(
                anatomy.chunks.map { chunk in
                    [
                        "number": .number(Int(chunk.number)), "isIntact": .bool(chunk.isIntact),
                        "bytes": .string(Hexadecimal.digits(chunk.bytes)),
                    ]
                }),
            "frame": .string(Hexadecimal.digits(anatomy.frame)),
            "dictionary": .string(anatomy.dictionaryNumber.map(dictionaryName)),
            "parts": .array(
                anatomy.parts.map(section).map { section in
                    [
                        "name": .string(section.name), "meaning": .string(section.meaning),
                        "offset": .number(section.offset),
                        "bytes": .string(Hexadecimal.digits(section.bytes)),
                    ]
                }),
        ]
    }
}

extension RecordDump.Section {
    private static let lineLength = 16

    fileprivate var lines: [[Cell]] {
        stride(from: 0, to: bytes.count, by: Self.lineLength).map { start in
            let line = bytes.dropFirst(start).prefix(Self.lineLength)
            return [
                .text(Hexadecimal.offset(offset + start)), .text(Hexadecimal.spaced(line)),
                .text(Hexadecimal.printable(line), .faint),
            ]
        }
    }
}

extension RecordAnatomy {
    /// The number of the shape, or `its own`. Nil if it is unknown.
    var shapeName: String? {
        hasOwnShape ? "its own" : shapeNumber.map { $0 == 0 ? "none" : "\($0)" }
    }
}

/// Bytes as hex digits.
enum Hexadecimal {
    static func digits(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { padded(String($0, radix: 16), to: 2) }.joined()
    }

    /// Returns pairs of digits separated by spaces, with two spaces after eight pairs.
    static func spaced(_ bytes: ArraySlice<UInt8>) -> String {
        [bytes.prefix(8), bytes.dropFirst(8)].filter { !$0.isEmpty }
            .map { $0.map { digits([$0]) }.joined(separator: " ") }.joined(separator: "  ")
    }

    /// Returns the printable ASCII characters, with a point for every other byte.
    static func printable(_ bytes: ArraySlice<UInt8>) -> String {
        String(
            decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") },
            as: UTF8.self)
    }

    /// Returns an offset of at least four digits.
    static func offset(_ offset: Int) -> String { padded(String(offset, radix: 16), to: 4) }

    private static func padded(_ digits: String, to count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
#endif
