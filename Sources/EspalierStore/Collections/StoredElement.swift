import EspalierRecords

/// One element of a collection: a value with its children.
///
/// Nearly all are references, and a segment has hundreds of them: those hold nothing but the
/// handle.
enum StoredElement: Sendable, Equatable {
    case reference(Handle)
    case inline(bytes: [UInt8], children: [Handle])

    init(bytes: [UInt8], children: [Handle]) {
        if children.count == 1, bytes.first == Wire.fixext1 {
            self = .reference(children[0])
        } else {
            self = .inline(bytes: bytes, children: children)
        }
    }

    var children: [Handle] {
        switch self {
        case .reference(let handle): [handle]
        case .inline(_, let children): children
        }
    }

    /// The record an element refers to, if it is a reference.
    var target: Handle? {
        guard case .reference(let handle) = self else { return nil }
        return handle
    }
}

/// A run of elements as its record has them.
///
///     values = array of elements
enum SegmentContent {
    static func decode(_ record: Record) throws -> [StoredElement] {
        func child(_ ordinal: Int) throws -> Handle {
            guard ordinal < record.children.count else {
                throw FormatError.malformed("a child that is not in the record")
            }
            return record.children[ordinal]
        }
        return try ByteReader.reading(record.values) { reader in
            guard let count = try reader.readArrayCount() else {
                throw FormatError.malformed("a segment without elements")
            }
            return try (0..<count).map { _ in
                if let ordinal = try reader.readChild() { return .reference(try child(ordinal)) }
                let start = reader.position
                try reader.skipValue()
                var splicer = ValueSplicer()
                try splicer.append(start..<reader.position, of: reader, child: child)
                return StoredElement(bytes: splicer.values, children: splicer.children)
            }
        }
    }

    static func encode(_ elements: some Collection<StoredElement>) throws -> (
        children: [Handle], values: [UInt8]
    ) {
        var splicer = ValueSplicer()
        splicer.append(arrayOf: elements.count)
        for element in elements { try append(element, to: &splicer) }
        return (splicer.children, splicer.values)
    }

    /// One element by itself.
    static func encoded(_ element: StoredElement) throws -> (children: [Handle], values: [UInt8]) {
        var splicer = ValueSplicer()
        try append(element, to: &splicer)
        return (splicer.children, splicer.values)
    }

    private static func append(_ element: StoredElement, to splicer: inout ValueSplicer) throws {
        switch element {
        case .reference(let handle): splicer.append(reference: handle)
        case .inline(let bytes, let children): try splicer.append(bytes, children: children)
        }
    }
}

/// The segments of a collection, in order, as its record has them.
///
///     children = the segments' handles       values = array of the segments' element counts
struct SegmentList: Equatable {
    struct Segment: Equatable {
        var handle: Handle
        var count: Int
    }

    var segments: [Segment] = []

    var count: Int { segments.reduce(0) { $0 + $1.count } }

    init() {}

    init(_ record: Record) throws {
        let counts = try ByteReader.reading(record.values) { reader in
            guard let count = try reader.readArrayCount() else {
                throw FormatError.malformed("a collection without counts")
            }
            return try (0..<count).map { _ in
                guard let count = try reader.readInteger(Int.self), count >= 0 else {
                    throw FormatError.malformed("a count that is none")
                }
                return count
            }
        }
        guard counts.count == record.children.count else {
            throw FormatError.malformed("a collection's counts")
        }
        segments = zip(record.children, counts).map(Segment.init)
    }

    var values: [UInt8] {
        var writer = ByteWriter()
        writer.append(arrayOf: segments.count)
        for segment in segments { writer.append(value: UInt64(segment.count)) }
        return writer.bytes
    }

    /// The segment that element `index` stands in, and its place there; for `count` itself the end
    /// of the last one.
    func locate(_ index: Int) -> (segment: Int, offset: Int)? {
        var rest = index
        for (number, segment) in segments.enumerated() {
            if rest < segment.count || (rest == segment.count && number == segments.count - 1) {
                return (number, rest)
            }
            rest -= segment.count
        }
        return nil
    }
}
