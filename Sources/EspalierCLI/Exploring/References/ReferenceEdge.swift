import EspalierRecords

/// A reference: the record that holds it, where in it, and the record it leads to. Segments don't
/// occur: their collection holds their references.
struct ReferenceEdge: Sendable, Hashable {
    let source: Handle
    let path: FieldPath
    let target: Handle
}
