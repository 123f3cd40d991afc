/// How many records are of a type.
///
/// ```swift
/// for type in try cache.statistics().types { print(type.name, type.records) }
/// ```
///
/// A record that several types have written, as projections of one node, counts for each of them.
/// Threading: a value. Cost: a string. Errors: none.
public struct TypeStatistics: Sendable, Hashable, Codable {
    public var name: String
    public var records: Int

    public init(name: String, records: Int) {
        self.name = name
        self.records = records
    }
}
