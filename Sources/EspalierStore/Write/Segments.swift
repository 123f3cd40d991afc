package import EspalierRecords

/// How many elements the segments of a collection hold: the rules of the leaves of a B-tree.
enum SegmentSizes {
    static let maximum = 512
    static let minimum = 128

    /// Returns the sizes of the segments for `count` new elements. All but the last are full.
    static func sizes(for count: Int) -> [Int] {
        guard count > 0 else { return [] }
        let full = Array(repeating: maximum, count: count / maximum)
        return count % maximum == 0 ? full : full + [count % maximum]
    }

    /// Returns the sizes of the parts into which a segment is split. The parts are as equal as
    /// possible, so that each has room for the next insertion.
    static func parts(of count: Int) -> [Int] {
        guard count > maximum else { return [count] }
        let parts = (count + maximum - 1) / maximum
        return (0..<parts).map { count / parts + ($0 < count % parts ? 1 : 0) }
    }

    /// Returns whether two neighbouring segments are to be joined.
    static func areJoined(_ a: Int, _ b: Int) -> Bool {
        (a < minimum || b < minimum) && a + b <= maximum * 3 / 4
    }
}

/// One element of a collection: a value with its children.
///
/// Nearly all elements are references, and a segment has hundreds. Such an element holds only a
/// handle.
package enum StoredElement: Sendable, Equatable {
    case reference(Handle)
    case inline(bytes: [UInt8], children: [Handle])

    package init(bytes: [UInt8], children: [Handle]) {
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

    /// The record that a reference leads to; nil for an inline value.
    package var target: Handle? {
        guard case .reference(let handle) = self else { return nil }
        return handle
    }
}

/// The elements of a segment as its record holds them.
///
///     values = array of elements
package enum SegmentContent {
    package static func decode(_ record: Record) throws -> [StoredElement] {
        try decode(record.values, children: record.children)
    }

    package static func decode(
        _ values: [UInt8], children: [Handle]
    ) throws -> [StoredElement] {
        func child(_ ordinal: Int) throws -> Handle {
            guard ordinal < children.count else {
                throw FormatError.malformed("a child that is not in the record")
            }
            return children[ordinal]
        }
        return try ByteReader.reading(values) { reader in
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

    package static func encode(
        _ elements: some Collection<StoredElement>
    ) throws -> (children: [Handle], values: [UInt8]) {
        var splicer = ValueSplicer()
        splicer.append(arrayOf: elements.count)
        for element in elements { try append(element, to: &splicer) }
        return (splicer.children, splicer.values)
    }

    /// Encodes one element by itself.
    package static func encoded(_ element: StoredElement) throws -> (
        children: [Handle], values: [UInt8]
    ) {
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

/// The segments of a collection, in order, as its record holds them.
///
///     children = the handles of the segments        values = array of their element counts
package struct SegmentList: Equatable {
    package struct Segment: Equatable {
        package var handle: Handle
        package var count: Int
    }

    package var segments: [Segment] = []

    package var count: Int { segments.reduce(0) { $0 + $1.count } }

    init() {}

    package init(_ record: Record) throws {
        let counts = try ByteReader.reading(record.values) { reader in
            guard let count = try reader.readArrayCount() else {
                throw FormatError.malformed("a collection without counts")
            }
            return try (0..<count).map { _ in
                guard let count = try reader.readInteger(Int.self),
                    (0...TreeReader.mostElements).contains(count)
                else {
                    throw FormatError.malformed("a count that is not one of a segment")
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

    /// Returns the segment of element `index`, and the element's offset there. For `count`, returns
    /// the end of the last segment; nil if there is no segment.
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
