/// Something a doctor has to say, and what to do about it.
struct Finding: Sendable, Equatable {
    enum Severity: String, Sendable {
        /// Works, and may not go on to.
        case warning
        /// Does not work, or can lose what is stored.
        case problem
    }

    let severity: Severity
    /// What it is about, in a word or two.
    let about: String
    let detail: String
    let advice: String

    static func warning(_ about: String, _ detail: String, _ advice: String) -> Finding {
        Finding(severity: .warning, about: about, detail: detail, advice: advice)
    }

    static func problem(_ about: String, _ detail: String, _ advice: String) -> Finding {
        Finding(severity: .problem, about: about, detail: detail, advice: advice)
    }
}
