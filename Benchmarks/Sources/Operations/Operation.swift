/// Something whose speed the library promises. Everything else about it, making a cache or the next feed, is done before.
package struct Operation: Sendable {
    package typealias Measured = @Sendable () async throws -> Void

    /// Also part of a file's name: letters and hyphens.
    package let name: String
    /// Makes what it is done with. What is returned makes everything for the time of that number, which is the only thing that
    /// is measured; numbers ascend, and none comes twice.
    package let start: @Sendable () async throws -> @Sendable (_ number: Int) throws -> Measured

    init(_ name: String, start: @escaping @Sendable () async throws -> @Sendable (_ number: Int) throws -> Measured) {
        self.name = name
        self.start = start
    }

    package static let all = json + reading + writing + collections + opening + consistency
}

enum OperationError: Error {
    case miss(String)
    case differs(String)
}
