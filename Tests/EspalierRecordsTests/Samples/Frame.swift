import EspalierModels
import EspalierRecords

/// Inline, and can't be without its leaf either.
struct Frame: NormalizedModel, Equatable {
    let leaf: Leaf

    init(_ leaf: Leaf) { self.leaf = leaf }
    init(from decoder: inout RecordDecoder) throws { leaf = try decoder.decode(forKey: "leaf") }
    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(leaf, forKey: "leaf") }
}
