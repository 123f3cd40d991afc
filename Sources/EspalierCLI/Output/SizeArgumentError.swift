/// Why a text is no size.
enum SizeArgumentError: Error, Equatable {
    case notANumber
    case unknownUnit
    case zero
    case tooLarge
}

extension SizeArgumentError: CustomStringConvertible {
    var description: String {
        switch self {
        case .notANumber:
            "a size starts with a whole number of bytes or of a unit, as in 1048576 or 50MiB"
        case .unknownUnit:
            "the unit of a size is one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB, as in 50MiB"
        case .zero: "a size is above zero, as in 50MiB"
        case .tooLarge: "a size is less than 8 EiB, as in 50MiB"
        }
    }
}
