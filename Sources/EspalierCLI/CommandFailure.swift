/// Why a verb did not do what was asked, as the one line its user reads.
struct CommandFailure: Error, Equatable {
    let kind: Kind
    let message: String

    enum Kind: Int32 {
        /// It could not be done.
        case failure = 1
        /// What was asked for is not there, or a check found something.
        case miss = 2
    }

    init(_ message: String, kind: Kind = .failure) {
        self.message = message
        self.kind = kind
    }
}
