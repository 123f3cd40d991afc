import EspalierRecords

/// The compact form, of some hundred bytes:
///
///     histogram = coarseness (varint), longest (varint), count of entries (varint), entries
///     entry     = buckets passed over (varint), count (varint)
///
/// Coarseness c joins 2^c neighbouring buckets, as many as it takes to stay within the limit; c = 3
/// always does.
extension LatencyHistogram {
    static let longestForm = 576
    private static let coarsest = 3

    func append(to writer: inout ByteWriter) {
        for coarseness in 0...Self.coarsest {
            let form = form(coarseness)
            if form.count <= Self.longestForm || coarseness == Self.coarsest {
                return writer.append(form)
            }
        }
    }

    private func form(_ coarseness: Int) -> [UInt8] {
        var entries = ByteWriter(capacity: 256)
        var entryCount: UInt64 = 0
        var next = 0
        for (group, count) in groups(coarseness) {
            entries.append(varint: UInt64(group - next))
            entries.append(varint: count)
            entryCount += 1
            next = group + 1
        }
        var writer = ByteWriter(capacity: entries.count + 16)
        writer.append(varint: UInt64(coarseness))
        writer.append(varint: longest)
        writer.append(varint: entryCount)
        writer.append(entries)
        return writer.bytes
    }

    private func groups(_ coarseness: Int) -> [(group: Int, count: UInt64)] {
        var groups: [(group: Int, count: UInt64)] = []
        for bucket in counts.indices where counts[bucket] > 0 {
            let group = bucket >> coarseness
            if let last = groups.last, last.group == group {
                groups[groups.count - 1].count = last.count.addingClamped(counts[bucket])
            } else {
                groups.append((group, counts[bucket]))
            }
        }
        return groups
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        self.init()
        let coarseness = try reader.varint()
        guard coarseness <= UInt64(Self.coarsest) else {
            throw .malformed("a histogram of unknown coarseness")
        }
        let longest = try reader.varint()
        var next: UInt64 = 0
        for _ in 0..<(try reader.count(ofAtLeast: 2)) {
            let group = next.addingClamped(try reader.varint())
            // The middle one of those joined.
            let half: UInt64 = coarseness == 0 ? 0 : 1 << (coarseness - 1)
            guard group < UInt64(Self.bucketCount) >> coarseness else {
                throw .malformed("a histogram's bucket is out of range")
            }
            add(try reader.varint(), to: Int(group << coarseness + half))
            next = group + 1
        }
        // Without entries it is as if nothing had been recorded.
        if !isEmpty { raise(longest: longest) }
    }
}
