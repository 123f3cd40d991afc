/// The name space of an index entry; also says what kind of record the entry names.
public enum NameSpace: UInt8, Sendable, CaseIterable, Codable {
    /// A node under its `modelIdentifier`.
    case node = 1
    /// An entry under a caller-chosen key: one reference, or one inline model.
    case key = 2
    /// A collection under its key.
    case collection = 3
    /// A run of a collection's elements. It has no identifier and no index entry: its collection
    /// names it.
    case segment = 5
}
