import EspalierRecords
public import EspalierStore

/// Decodes all values of one snapshot, and checks two invariants in addition to those of
/// `Verifier`:
///
/// 7. Every value has the format's shortest form, and is nested no deeper than reads allow. Every
///    child that a value names is in its record.
/// 8. Every tree can be walked from its entry: references lead to readable or deleted records.
///
/// A deep check walks the whole cache, decodes every value, and needs a few words of memory for
/// each record and reference.
struct DeepVerifier {
    private let inspection: Inspection
    private let maximumDepth: Int
    private(set) var report: VerifyReport
    /// Records that can't be read, and records at which reads miss.
    private var broken: Set<Handle> = []
    private var referrers: [Handle: [Handle]] = [:]
    /// The detail of the miss for each record to which references lead; nil for a record that can
    /// be read, or that was deleted. Each is looked up once.
    private var targets: [Handle: String?] = [:]
    /// The collection of each segment, and the indexes of the segment's elements in it.
    private var owners: [Handle: (collection: Record, elements: Range<Int>)] = [:]

    /// Returns `report` with the problems that this check finds.
    static func verify(
        _ inspection: Inspection, maximumDepth: Int, after report: VerifyReport
    ) throws -> VerifyReport {
        var verifier = DeepVerifier(
            inspection: inspection, maximumDepth: maximumDepth, report: report)
        try verifier.findSegments()
        try verifier.decodeRecords()
        try verifier.countTrees()
        return verifier.report
    }

    // MARK: - Records

    /// Finds the collection of each segment, because segments do not name it, and the state of each
    /// record.
    private mutating func findSegments() throws {
        try inspection.forEachRecord { handle, stored in
            switch stored {
            case .record(let record):
                targets[handle] = .some(nil)
                guard record.nameSpace == .collection, let segments = try? record.segments() else {
                    return true
                }
                for (segment, elements) in segments { owners[segment] = (record, elements) }
            case .deleted: targets[handle] = .some(nil)
            case .lost: targets[handle] = stored.problem
            case .damaged:
                targets[handle] = stored.problem
                broken.insert(handle)
            case .nothing: break
            }
            return true
        }
    }

    private mutating func decodeRecords() throws {
        try inspection.forEachRecord { handle, stored in
            guard case .record(let record) = stored else { return true }
            do {
                try decode(record)
            } catch let error as FormatError {
                report(7, record, nil, ReadFailure.detail(of: error))
            }
            return true
        }
    }

    private mutating func decode(_ record: Record) throws {
        let bytes = record.values
        // A segment whose collection is lost has none, until it is removed.
        let owned = owners[record.handle]
        let (owner, elements) = owned ?? (record, 0..<0)
        try ByteReader.reading(bytes) { reader in
            switch record.nameSpace {
            case .node:
                for name in record.shape.names {
                    guard
                        decode(
                            &reader, record, at: PlaceName(record: record.identifier).field(name))
                    else { return }
                }
            case .key: _ = decode(&reader, record, at: PlaceName(record: record.identifier))
            case .segment:
                guard let count = try reader.readArrayCount() else {
                    throw FormatError.malformed("a segment without elements")
                }
                if owned != nil, count != elements.count {
                    report(
                        7, record, nil,
                        "\(count) elements of a segment that counts as \(elements.count)")
                }
                for index in 0..<count {
                    let place = PlaceName(record: owner.identifier).element(
                        elements.lowerBound + index)
                    guard decode(&reader, record, at: place) else { return }
                }
            case .collection:
                for segment in try record.segments() {
                    follow(segment.handle, from: record, at: PlaceName(record: record.identifier))
                }
            }
        }
    }

    /// Checks a value, and returns whether the reader has passed it. Otherwise the position of the
    /// next value is unknown.
    private mutating func decode(_ reader: inout ByteReader, _ record: Record, at place: PlaceName)
        -> Bool
    {
        let start = reader.position
        report.values += 1
        do {
            let value = try RecordValue(reading: &reader, depth: maximumDepth)
            var writer = ByteWriter()
            writer.append(value)
            let end = reader.position
            reader.position = start
            if try reader.bytes(count: end - start) != writer.bytes {
                report(7, record, place, "a value that is not in its shortest form")
            }
            walk(value, record, at: place)
            return true
        } catch {
            report(7, record, place, ReadFailure.detail(of: error))
            reader.position = start
            return (try? reader.skipValue()) != nil
        }
    }

    private mutating func walk(_ value: RecordValue, _ record: Record, at place: PlaceName) {
        switch value {
        case .child(let ordinal):
            guard record.children.indices.contains(ordinal) else {
                return report(7, record, place, "a child that is not in the record")
            }
            follow(record.children[ordinal], from: record, at: place)
        case .decimal(let digits):
            if !Self.isNumber(digits) {
                report(7, record, place, "digits that are not a number")
            }
        default: value.forEachInside(at: place) { walk($0, record, at: $1) }
        }
    }

    /// Returns whether the digits are an ASCII number with sign, point and exponent, or `Decimal`'s
    /// NaN.
    private static func isNumber(_ digits: String) -> Bool {
        digits == "NaN"
            || !digits.isEmpty && digits.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
    }

    // MARK: - References

    private mutating func follow(_ handle: Handle, from record: Record, at place: PlaceName) {
        referrers[handle, default: []].append(record.handle)
        guard let detail = problem(of: handle) else { return }
        report(8, record, place, "refers to a record that can't be read: \(detail)")
    }

    private mutating func problem(of handle: Handle) -> String? {
        if let known = targets[handle] { return known }
        let flags = (try? inspection.state(of: handle))??.flags ?? []
        let stored: StoredRecord = flags.contains(.lost) ? .lost : .nothing
        let isDeleted = !flags.isDisjoint(with: [.tombstone, .pendingRemoval])
        // Eviction has detached a record on a large cycle from its children.
        let problem = isDeleted || flags.contains(.stub) ? nil : stored.problem
        targets[handle] = .some(problem)
        return problem
    }

    private mutating func report(
        _ invariant: Int, _ record: Record, _ place: PlaceName?, _ detail: String
    ) {
        broken.insert(record.handle)
        let owner = owners[record.handle]?.collection ?? record
        report.add(
            invariant, detail, identifier: owner.identifier, path: place?.text ?? owner.identifier)
    }

    // MARK: - Trees

    /// Counts the entries, and the entries that lead to a broken record.
    private mutating func countTrees() throws {
        var open = Array(broken)
        while let handle = open.popLast() {
            for referrer in referrers[handle] ?? [] where broken.insert(referrer).inserted {
                open.append(referrer)
            }
        }
        for nameSpace in [NameSpace.node, .key, .collection] {
            try inspection.forEachEntry(of: nameSpace) { entry in
                report.trees += 1
                if try isUnreadable(entry) { report.unreadableTrees += 1 }
                return true
            }
        }
    }

    private mutating func isUnreadable(_ entry: IndexEntry) throws -> Bool {
        guard let detail = try inspection.record(of: entry).problem else {
            return broken.contains(entry.handle)
        }
        report.add(
            8, "its record can't be read: \(detail)", identifier: entry.shownIdentifier,
            path: entry.shownIdentifier)
        return true
    }
}

extension NormalizedCache {
    /// Checks the whole cache like ``verify()``, and with `deep` also decodes all values and walks
    /// all trees.
    ///
    /// ```swift
    /// let report = try cache.verify(deep: true)
    /// print(report.unreadableTrees, report.problems)
    /// ```
    ///
    /// The additional problems have the invariant 7, for a value, or 8, for a tree. They contain
    /// the identifier and the path that a miss contains. Records that were lost, or that an import
    /// left out, break trees but not the cache. Blocks the calling thread.
    ///
    /// - Parameter deep: Whether to decode all values.
    /// - Returns: The problems found and the number of records.
    /// - Throws: The errors of ``verify()``.
    /// - Complexity: O(*n*) in the bytes of the cache, with some words of memory for each record
    ///   and reference.
    public func verify(deep: Bool) throws(CacheError) -> VerifyReport {
        guard deep else { return try verify() }
        do {
            return try inspect { inspection in
                try DeepVerifier.verify(
                    inspection, maximumDepth: configuration.limits.maximumDepth,
                    after: inspection.verify())
            }
        } catch {
            throw CacheError(error)
        }
    }
}
