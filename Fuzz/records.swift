import EspalierRecords

// Reads arbitrary bytes as a record, or as a block of records with the right check, so that the
// code behind the check is reached. The first byte holds the low bits of the handle, and a flag for
// a block.
//
// A finding is a crash, a hang or a report of the sanitizer: broken bytes must be an error.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var bytes = input(start, count)
    guard let options = bytes.first else { return 0 }
    bytes.removeFirst()
    let source = FuzzedRecords()
    let handle = Handle(UInt64(options >> 1 & 0x7) + 1)
    guard options & 1 != 0 else {
        read(bytes, handle, source)
        return 0
    }
    guard let block = try? FuzzedRecords.block(bytes, handle) else { return 0 }
    for index in 0..<block.count {
        guard var record = try? block.record(at: index) else { continue }
        _ = try? block.blockRecord(at: index)
        guard let bytes = try? record.bytes(count: record.end) else { continue }
        read(bytes, block.handle(at: index), source)
    }
    return 0
}

private func read(_ record: [UInt8], _ handle: Handle, _ source: FuzzedRecords) {
    source.record = record
    parse(record, handle)
    readTrees(source, handle)
}

/// Parses the record as verification, merging and the tool do.
private func parse(_ bytes: [UInt8], _ handle: Handle) {
    _ = try? ByteReader.reading(bytes) { reader in
        var writer = ByteWriter()
        _ = try? Chunks.count(bytes.span.bytes)
        _ = try? Chunks.join(&reader, number: 0, handle: handle, into: &writer)
        reader.position = 0
        let record = try Record(reading: reader, handle: handle) { FuzzedRecords.shapes[$0] }
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
            identifier: record.identifier, values: record.values)
        let again = try ByteReader.reading(built) {
            try Record(reading: $0, handle: handle) { FuzzedRecords.shapes[$0] }
        }
        precondition(again.values == record.values && again.children == record.children)
        precondition(again.identifier.utf8.elementsEqual(record.identifier.utf8))
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
