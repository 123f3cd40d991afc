import EspalierRecords

/// An identifier as the bytes it is, as on disk: two texts that only look alike are two nodes.
struct NodeIdentifier: Hashable, Sendable {
    let text: String
    /// Never 0, which stands for nodes without identifier.
    let bytesHash: UInt64

    init(_ text: String) {
        self.text = text
        bytesHash = Swift.max(text.bytesHash, 1)
    }

    static func == (a: NodeIdentifier, b: NodeIdentifier) -> Bool {
        a.bytesHash == b.bytesHash && a.text.hasSameBytes(as: b.text)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bytesHash) }
}
