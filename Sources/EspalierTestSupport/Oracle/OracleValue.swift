/// What stands in a field of a record, said as plainly as can be.
package indirect enum OracleValue: Hashable, Sendable {
    /// Set to nil.
    case nothing
    case scalar(TreeScalar)
    /// A node: the number of its record.
    case reference(Int)
    /// A model without identifier.
    case inline([String: OracleValue])
    case list([OracleValue])
    case entries([String: OracleValue])
}
