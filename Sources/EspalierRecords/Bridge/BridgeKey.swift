/// A step of a `codingPath`: a field's name, or an element's index.
struct BridgeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }

    /// The field of a record that holds what a model encoded as a whole, in a single-value or
    /// unkeyed container: a record consists of fields, so such a model has this one.
    static let wholeValue = "$value"
    static let superKey = "super"
}
