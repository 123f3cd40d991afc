import EspalierStore
import Foundation

extension LatencyHistogram {
    /// The form in which a histogram is coded: the count of each bucket, by its shortest time.
    private struct Form: Codable {
        var maximum: UInt64
        var buckets: [String: UInt64]
    }

    /// What was counted since an earlier state of the same histogram; all of it where it began anew
    /// meanwhile.
    func since(_ earlier: LatencyHistogram) throws -> LatencyHistogram {
        let before = try JSONDecoder().decode(Form.self, from: JSONEncoder().encode(earlier))
        var form = try JSONDecoder().decode(Form.self, from: JSONEncoder().encode(self))
        guard before.buckets.allSatisfy({ form.buckets[$0.key, default: 0] >= $0.value }) else {
            return self
        }
        form.buckets = form.buckets.merging(before.buckets) { $0 - $1 }.filter { $0.value > 0 }
        // The longest may have been before; a bucket is an eighth of its beginning wide.
        let last = form.buckets.keys.compactMap { UInt64($0) }.max() ?? 0
        form.maximum = min(form.maximum, last + last / 8)
        return try JSONDecoder().decode(LatencyHistogram.self, from: JSONEncoder().encode(form))
    }
}
