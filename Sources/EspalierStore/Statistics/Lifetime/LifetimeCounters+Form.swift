import EspalierRecords

/// How they are stored, under `statistics` in the keyspace `info`:
///
///     statistics = count of fields (varint), fields (varints), count of parts (varint), parts, check (8 bytes, seed 0)
///     fields     = the sums, nanoseconds of the longest eviction, ages of the youngest and of the oldest victim plus 1, or 0
///     part       = length (varint), bytes
///     parts      = misses, dropped writes, generations replaced, read latency, commit latency, timeline, misses by type
///
/// The last part has what room the others leave: `MissCounts`.
///
/// A reader takes the fields and parts it knows; what is missing is zero or empty.
extension LifetimeCounters {
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 1_024)
        writer.append(varint: UInt64(Self.sumCount + 3))
        var copy = self
        copy.forEachSum(with: self) { writer.append(varint: $1) }
        writer.append(varint: longestEvictionNanoseconds)
        writer.append(varint: victimAges?.lowerBound.addingClamped(1) ?? 0)
        writer.append(varint: victimAges?.upperBound.addingClamped(1) ?? 0)
        let parts: [(inout ByteWriter) -> Void] = [
            misses.append, droppedWrites.append, generationsReplaced.append, readLatency.append,
            commitLatency.append,
            timeline.append,
        ]
        writer.append(varint: UInt64(parts.count) + (missesByType.isEmpty ? 0 : 1))
        for part in parts {
            var form = ByteWriter(capacity: 256)
            part(&form)
            writer.append(varint: UInt64(form.count))
            writer.append(form)
        }
        if !missesByType.isEmpty {
            // Two bytes for its length, eight for the check.
            let form = missesByType.form(atMost: Self.longestForm - writer.count - 10)
            writer.append(varint: UInt64(form.count))
            writer.append(form)
        }
        writer.append(integer: writer.check(seed: 0))
        return writer.bytes
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        var reader = reader.limited(to: try reader.verifiedEnd(seed: 0))
        try readFields(&reader)
        for part in 0..<(try reader.count()) {
            let end = try reader.count() + reader.position
            var form = reader.limited(to: end)
            try readPart(part, &form)
            reader.position = end
        }
    }

    private mutating func readFields(_ reader: inout ByteReader) throws(FormatError) {
        let count = try reader.count()
        var fields: [UInt64] = []
        for _ in 0..<count { fields.append(try reader.varint()) }
        var values = fields[...]
        forEachSum(with: self) { field, _ in field = values.popFirst() ?? field }
        let rest = fields.dropFirst(Self.sumCount) + [0, 0, 0]
        let (longest, youngest, oldest) = (
            rest[rest.startIndex], rest[rest.startIndex + 1], rest[rest.startIndex + 2]
        )
        longestEvictionNanoseconds = longest
        if youngest > 0, oldest >= youngest { victimAges = youngest - 1...oldest - 1 }
    }

    private mutating func readPart(_ part: Int, _ reader: inout ByteReader) throws(FormatError) {
        switch part {
        case 0: misses = try ReasonCounts(limit: misses.limit, reading: &reader)
        case 1: droppedWrites = try ReasonCounts(limit: droppedWrites.limit, reading: &reader)
        case 2:
            generationsReplaced = try ReasonCounts(
                limit: generationsReplaced.limit, reading: &reader)
        case 3: readLatency = try LatencyHistogram(reading: &reader)
        case 4: commitLatency = try LatencyHistogram(reading: &reader)
        case 5: timeline = try Timeline(reading: &reader)
        case 6: missesByType = try MissCounts(reading: &reader)
        default: break
        }
    }
}
