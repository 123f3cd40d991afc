/// As the longest time and the count of each bucket that has one, named after its shortest time; in
/// nanoseconds.
extension LatencyHistogram: Codable {
    private enum CodingKeys: String, CodingKey {
        case maximum, buckets
    }

    public func encode(to encoder: any Encoder) throws {
        var buckets: [String: UInt64] = [:]
        for bucket in counts.indices where counts[bucket] > 0 {
            buckets[String(Self.extent(of: bucket).start)] = counts[bucket]
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(longest, forKey: .maximum)
        try container.encode(buckets, forKey: .buckets)
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for (start, count) in try container.decode([String: UInt64].self, forKey: .buckets) {
            guard let start = UInt64(start) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .buckets, in: container,
                    debugDescription: "A bucket is named after its nanoseconds.")
            }
            add(count, to: Self.bucket(of: start))
        }
        let longest = try container.decode(UInt64.self, forKey: .maximum)
        if !isEmpty { raise(longest: longest) }
    }
}
