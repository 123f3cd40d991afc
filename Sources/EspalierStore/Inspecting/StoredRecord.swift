package import EspalierRecords

/// What an inspection finds under a handle.
package enum StoredRecord {
    case record(Record)
    /// A tombstone: deleted, and still referred to.
    case deleted
    /// Found damaged earlier: its place is kept.
    case lost
    /// Its bytes can't be taken apart.
    case damaged(_ detail: String)
    /// No record: a reference to it dangles.
    case nothing
}
