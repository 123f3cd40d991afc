import EspalierRecords

// Reads arbitrary bytes as a record. The first byte holds the low bits of the handle, and a flag
// that gives the record the right check, so that the code behind the check is reached. The other
// bytes are the record, with its check or eight bytes in its place.
//
// A finding is a crash, a hang or a report of the sanitizer: broken bytes must be an error.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var bytes = input(start, count)
    guard let options = bytes.first else { return 0 }
    bytes.removeFirst()
    let source = FuzzedRecords()
    let handle = Handle(UInt64(options >> 1 & 0x7) + 1)
    if options & 1 != 0 { bytes = FuzzedRecords.sealed(bytes, handle) }
    source.record = bytes
    parse(bytes, handle)
    readTrees(source, handle)
    return 0
}

/// Parses the record as verification, merging and the tool do.
private func parse(_ bytes: [UInt8], _ handle: Handle) {
    _ = try? ByteReader.reading(bytes) { reader in
        var writer = ByteWriter()
        _ = try? Chunks.count(&reader)
        reader.position = 0
        _ = try? Chunks.join(&reader, number: 0, handle: handle, into: &writer)
        reader.position = 0
        let record = try Record(reading: &reader, handle: handle) { FuzzedRecords.shapes[$0] }
        try ByteReader.reading(record.values) { values in
            while !values.isAtEnd { _ = try RecordValue(reading: &values) }
        }
        try ByteReader.reading(record.values) { values in
            while !values.isAtEnd { try values.skipValue() }
        }
        // A record that can be read can be built again.
        let shape: RecordLayout.ShapeReference =
            record.hasOwnShape
            ? .own(record.shape)
            : record.shapeNumber == 0 ? .none : .number(record.shapeNumber, record.shape)
        let built = RecordLayout.build(
            handle: handle, nameSpace: record.nameSpace, shape: shape, children: record.children,
            payload: Record.payload(identifier: record.identifier, values: record.values))
        let again = try ByteReader.reading(built) {
            try Record(reading: &$0, handle: handle) { FuzzedRecords.shapes[$0] }
        }
        precondition(again.values == record.values && again.children == record.children)
    }
}

/// Decodes the record as reads do.
private func readTrees(_ source: FuzzedRecords, _ handle: Handle) {
    for isMirrored in [false, true] {
        var limits = TreeLimits()
        limits.maximumNodes = 200
        let treeReader = TreeReader(source: source, limits: limits)
        _ = treeReader.read("x") {
            try treeReader.decodeModel(at: handle, as: Thing.self) {
                try Thing(from: &$0, isMirrored: isMirrored)
            }
        }
    }
    for nameSpace in NameSpace.allCases {
        var limits = TreeLimits()
        limits.maximumNodes = 200
        let treeReader = TreeReader(source: source, limits: limits)
        _ = treeReader.read("x") {
            try treeReader.values(entry: handle, identifier: "x", in: nameSpace) { decoder in
                try decoder.decodeElements(numberedFrom: 0) { _ = try Thing.decodeValue(from: &$0) }
            }
        }
    }
}

/// A model with fields of many kinds, each of which may be missing.
private struct Thing: FieldValue {
    init(from decoder: inout RecordDecoder, isMirrored: Bool) throws {
        if isMirrored { _ = try? decoder.decode([String: [Int]]?.self, forKey: "map") }
        for name in (try? decoder.fieldNames()) ?? [] {
            _ = try? decoder.decode(String?.self, forKey: name)
            _ = try? decoder.decode([Double]?.self, forKey: name)
            _ = try? decoder.decode(Set<Int>?.self, forKey: name)
            _ = try? decoder.decode(Int128?.self, forKey: name)
            _ = try decoder.decode([Thing]?.self, forKey: name)
        }
    }

    func encodeValue(into encoder: ValueEncoder) throws {}
    static func decodeValue(from decoder: inout ValueDecoder) throws -> Thing {
        try decoder.decodeModel(Thing.self) { try Thing(from: &$0, isMirrored: false) }
    }
}
