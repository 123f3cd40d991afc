import EspalierRecords

/// A walk of everything below an entry, without a type: where reads of it stop, and where a type
/// that needs more than others would.
///
/// ```swift
/// let survey = try inspection.survey(of: entry)
/// for place in survey.places { print(place.path, place.kind) }
/// ```
///
/// In the order in which a read goes, so that the first final place is where it stops; but on,
/// behind it. Costs a look at each record of the tree, once.
package struct TreeSurvey: Sendable {
    /// At most a thousand.
    package private(set) var places: [TreePlace] = []
    package private(set) var placeCount = 0
    /// Records that could be read.
    package private(set) var recordCount = 0
    /// Levels of records and containers, as limits count them.
    package private(set) var depth = 0
    private static let mostPlaces = 1_000

    /// Where every read of the tree ends.
    package var stop: TreePlace? { places.first { $0.kind.isFinal } }

    fileprivate mutating func note(_ place: TreePlace) {
        placeCount += 1
        if places.count < Self.mostPlaces { places.append(place) }
    }

    fileprivate mutating func noteRecord() { recordCount += 1 }

    fileprivate mutating func noteDepth(_ level: Int) { depth = max(depth, level) }
}

extension Inspection {
    /// - Parameter limit: levels that are looked at; what is deeper is told of as too deep.
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
    /// Records being walked, and those that were.
    private var path: Set<Handle> = []
    private var seen: Set<Handle> = []
    private static let usualLimit = TreeLimits().maximumDepth

    init(inspection: Inspection, limit: Int) {
        self.inspection = inspection
        self.limit = limit
    }

    mutating func visit(_ handle: Handle, at place: PlaceName, level: Int) throws {
        func found(_ kind: TreePlace.Kind, _ detail: String? = nil) -> TreePlace {
            TreePlace(kind: kind, path: place.text, handle: handle, detail: detail)
        }
        guard !path.contains(handle) else { return survey.note(found(.cyclic)) }
        guard enter(level, found(.tooDeep)) else { return }
        switch try inspection.record(handle) {
        case .deleted: survey.note(found(.deleted))
        case .lost: survey.note(found(.lost))
        case .nothing: survey.note(found(.dangling))
        case .damaged(let detail): survey.note(found(.damaged, detail))
        case .record(let record):
            guard seen.insert(handle).inserted else { return }
            survey.noteRecord()
            path.insert(handle)
            defer { path.remove(handle) }
            do {
                try walk(record, at: place, level: level + 1)
            } catch let error as FormatError {
                survey.note(found(.damaged, ReadFailure.detail(of: error)))
            }
        }
    }

    /// Whether what stands one level further down is looked at.
    private mutating func enter(_ level: Int, _ place: TreePlace) -> Bool {
        survey.noteDepth(level + 1)
        // The way further down says nothing new.
        if level == Self.usualLimit || level == limit { survey.note(place) }
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
                survey.noteRecord()
                do {
                    // A read is out of the collection's record again when it opens those of its
                    // segments.
                    try walk(elementsOf: found, from: elements.lowerBound, at: place, level)
                } catch let error as FormatError {
                    survey.note(
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
        case .array(let elements):
            guard enter(level, TreePlace(kind: .tooDeep, path: place.text, handle: handle)) else {
                return
            }
            for (index, element) in elements.enumerated() {
                try walk(element, of: children, at: place.element(index), level + 1, handle)
            }
        case .map(let entries):
            guard enter(level, TreePlace(kind: .tooDeep, path: place.text, handle: handle)) else {
                return
            }
            for entry in entries {
                let inside = entry.key.name.map(place.field) ?? place
                if entry.key.name == nil {
                    try walk(entry.key, of: children, at: place, level + 1, handle)
                }
                try walk(entry.value, of: children, at: inside, level + 1, handle)
            }
        default: break
        }
    }
}
