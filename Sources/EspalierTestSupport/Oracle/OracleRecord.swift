/// One record of the oracle.
package struct OracleRecord: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case living
        case deleted
        case lost
    }

    package let identifier: String
    package var state = State.living
    package var fields: [String: OracleValue] = [:]
    /// The types that declare each field.
    package var declarers: [String: Set<String>] = [:]
}
