/// An operation whose speed the library promises. Its preparation, such as making a cache or the
/// next feed, is not measured.
package struct Operation: Sendable {
    package typealias Measured = @Sendable () async throws -> Void

    /// The name, which is also part of a file's name: letters and hyphens.
    package let name: String
    /// Prepares the operation. The returned closure prepares the turn with a number; only the
    /// closure that it returns is measured. Numbers ascend and are never repeated.
    package let start: @Sendable () async throws -> @Sendable (_ number: Int) throws -> Measured

    /// The share by which counts of instructions may differ. Runs of most operations differ by a
    /// few thousandths.
    package let tolerance: Double

    init(
        _ name: String, tolerance: Double = 0.03,
        start: @escaping @Sendable () async throws -> @Sendable (_ number: Int) throws -> Measured
    ) {
        self.name = name
        self.tolerance = tolerance
        self.start = start
    }

    /// The operations whose speed is promised.
    package static let all = reading + writing + collections + opening + consistency
    /// The same feed by Foundation alone, for comparison.
    package static let foundation = [decodeJSON, encodeJSON]
    /// The operation by which the speed of a machine is judged.
    package static let unit = decodeJSON
}

enum OperationError: Error {
    case miss(String)
    case differs(String)
}
