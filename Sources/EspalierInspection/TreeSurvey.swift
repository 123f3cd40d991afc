package import EspalierRecords

/// The result of a walk of the whole tree below an entry, which needs no type. It contains the
/// places at which every read of the tree misses, and the places at which reads as some types miss.
///
/// ```swift
/// let survey = try inspection.survey(of: entry)
/// for place in survey.places { print(place.path, place.kind) }
/// ```
///
/// Places stand in the order of a read. A read stops at the first final place; the walk continues
/// behind it.
package struct TreeSurvey: Sendable {
    /// The first thousand places.
    package private(set) var places: [TreePlace] = []
    package private(set) var placeCount = 0
    /// The number of records that could be read.
    package fileprivate(set) var recordCount = 0
    /// The levels of records and containers, as limits count them.
    package fileprivate(set) var depth = 0
    private static let mostPlaces = 1_000

    /// The place at which every read of the tree misses; nil if there is none.
    package var stop: TreePlace? { places.first { $0.kind.isFinal } }

    fileprivate mutating func add(_ place: TreePlace) {
        placeCount += 1
        if places.count < Self.mostPlaces { places.append(place) }
    }
}

extension Inspection {
    /// Walks the whole tree below an entry.
    ///
    /// - Parameter limit: The number of levels to walk. Deeper places are reported as too deep.
    /// - Complexity: A look-up for each record of the tree.
    package func survey(of entry: IndexEntry, levels limit: Int) throws -> TreeSurvey {
        var walk = TreeWalk(inspection: self, limit: limit)
        try walk.visit(entry.handle, at: PlaceName(record: entry.identifier), level: 0)
        return walk.survey
    }
}

private struct TreeWalk {
    let inspection: Inspection
    let limit: Int
    var survey = TreeSurvey()
    /// The records from the entry to the current place.
    var path: Set<Handle> = []
    /// The records that were or are being walked.
    var seen: Set<Handle> = []
    private static let usualLimit = TreeLimits().maximumDepth

    mutating func visit(_ handle: Handle, at place: PlaceName, level: Int) throws {
        func found(_ kind: TreePlace.Kind, _ detail: String? = nil) -> TreePlace {
            TreePlace(kind: kind, path: place.text, handle: handle, detail: detail)
        }
        guard !path.contains(handle) else { return survey.add(found(.cyclic)) }
        guard descend(level, found(.tooDeep)) else { return }
        switch try inspection.record(handle) {
        case .deleted: survey.add(found(.deleted))
        case .lost: survey.add(found(.lost))
        case .nothing: survey.add(found(.dangling))
        case .damaged(let detail): survey.add(found(.damaged, detail))
        case .record(let record):
            guard seen.insert(handle).inserted else { return }
            survey.recordCount += 1
            path.insert(handle)
            defer { path.remove(handle) }
            do {
                try walk(record, at: place, level: level + 1)
            } catch let error as FormatError {
                survey.add(found(.damaged, ReadFailure.detail(of: error)))
            }
        }
    }

    /// Returns whether the walk continues one level deeper; reports `place` if it is too deep.
    private mutating func descend(_ level: Int, _ place: TreePlace) -> Bool {
        survey.depth = max(survey.depth, level + 1)
        // Deeper places on the same path are not reported.
        if level == Self.usualLimit || level == limit { survey.add(place) }
        return level < limit
    }

    private mutating func walk(_ record: Record, at place: PlaceName, level: Int) throws {
        switch record.nameSpace {
        case .node:
            let name = PlaceName(record: record.identifier)
            for (field, value) in try record.fields() {
                try walk(
                    value, of: record.children, at: name.field(field.name), level, record.handle)
            }
        case .key:
            try walk(try record.keyValue(), of: record.children, at: place, level, record.handle)
        case .segment: try walk(elementsOf: record, from: 0, at: place, level)
        case .collection:
            for (segment, elements) in try record.segments() {
                guard case .record(let found) = try inspection.record(segment),
                    found.nameSpace == .segment
                else {
                    try visit(segment, at: place, level: level)
                    continue
                }
                survey.recordCount += 1
                do {
                    // Segments are on their collection's level: a read leaves the collection's
                    // record before it opens a segment.
                    try walk(elementsOf: found, from: elements.lowerBound, at: place, level)
                } catch let error as FormatError {
                    survey.add(
                        TreePlace(
                            kind: .damaged, path: place.text, handle: segment,
                            detail: ReadFailure.detail(of: error)))
                }
            }
        }
    }

    private mutating func walk(
        elementsOf segment: Record, from start: Int, at place: PlaceName, _ level: Int
    ) throws {
        for (index, element) in try segment.elements().enumerated() {
            try walk(
                element.value, of: element.children, at: place.element(start + index), level + 1,
                segment.handle)
        }
    }

    private mutating func walk(
        _ value: RecordValue, of children: [Handle], at place: PlaceName, _ level: Int,
        _ handle: Handle
    ) throws {
        switch value {
        case .child(let ordinal):
            guard children.indices.contains(ordinal) else {
                throw FormatError.malformed("a child that is not in the record")
            }
            try visit(children[ordinal], at: place, level: level)
        case .array, .map:
            guard descend(level, TreePlace(kind: .tooDeep, path: place.text, handle: handle)) else {
                return
            }
            try value.forEachInside(at: place) {
                try walk($0, of: children, at: $1, level + 1, handle)
            }
        default: break
        }
    }
}

/// A place in a tree at which reads miss or leave out a value.
package struct TreePlace: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        // Every read of the tree misses.
        case damaged, lost, dangling
        // A read misses if its type requires the value.
        case deleted, cyclic
        /// Deeper than the default limit of reads.
        case tooDeep

        /// Whether reads as every type miss.
        package var isFinal: Bool { self == .damaged || self == .lost || self == .dangling }
    }

    package let kind: Kind
    /// The path, as misses name it: `Message:34.sender`.
    package let path: String
    /// The record to which the reference at this place leads.
    package let handle: Handle
    /// A description of the damage.
    package var detail: String?
}

/// The path of a place in a tree, as misses name it: `Feed:1.messages[3].sender`.
struct PlaceName {
    let text: String

    init(record identifier: String) { text = identifier }

    func field(_ name: String) -> PlaceName { PlaceName(record: "\(text).\(name)") }

    func element(_ index: Int) -> PlaceName { PlaceName(record: "\(text)[\(index)]") }
}

extension RecordValue {
    /// The name of the entry of which this is the key, in a map that is a model or a dictionary of
    /// strings or numbers; nil for other keys.
    private var name: String? {
        switch self {
        case .string(let name): name
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        default: nil
        }
    }

    /// Calls `body` with the elements of an array, or the values of a map, and their places. A key
    /// that names no place counts as a value.
    func forEachInside(
        at place: PlaceName, _ body: (RecordValue, PlaceName) throws -> Void
    ) rethrows {
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try body(element, place.element(index))
            }
        case .map(let entries):
            for entry in entries {
                let name = entry.key.name
                if name == nil { try body(entry.key, place) }
                try body(entry.value, name.map(place.field) ?? place)
            }
        default: break
        }
    }
}
