/// What a suite found that makes its times worthless.
enum BenchError: Error, CustomStringConvertible {
    case floorLacksRecord
    case miss(String)
    case differs(String)

    var description: String {
        switch self {
        case .floorLacksRecord: "the floor's copy lacks a record"
        case .miss(let reason): "a read missed: \(reason)"
        case .differs(let what): "\(what) read something else than was written"
        }
    }
}
