import Espalier
import Foundation

struct Person: NormalizedModel, Model, Codable, Equatable {
    var id: Int
    var name: String
    /// When the person was changed, in microseconds of a clock that all processes share.
    var time: Double

    var modelIdentifier: String? { "Person:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Person? { self }
    func forEach(_ visit: (any Model) -> Void) {}

    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
