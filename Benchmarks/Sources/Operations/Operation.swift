/// Something whose speed the library promises. Everything else about it, making a cache or the next
/// feed, is done before.
package struct Operation: Sendable {
    package typealias Measured = @Sendable () async throws -> Void

    /// Also part of a file's name: letters and hyphens.
    package let name: String
    /// Makes what it is done with. What is returned makes everything for the time of that number,
    /// which is the only thing that is measured; numbers ascend, and none comes twice.
    package let start: @Sendable () async throws -> @Sendable (_ number: Int) throws -> Measured

    /// By how much of themselves counts of instructions may differ. Runs of most operations differ
    /// by a few thousandths.
    package let tolerance: Double

    init(
        _ name: String, tolerance: Double = 0.03,
        start: @escaping @Sendable () async throws -> @Sendable (_ number: Int) throws -> Measured
    ) {
        self.name = name
        self.tolerance = tolerance
        self.start = start
    }

    /// What is promised.
    package static let all = reading + writing + collections + opening + consistency
    /// The same feed by Foundation alone, to compare with.
    package static let foundation = [decodeJSON, encodeJSON]
    /// What a machine's speed is told by.
    package static let unit = decodeJSON
}

enum OperationError: Error {
    case miss(String)
    case differs(String)
}
