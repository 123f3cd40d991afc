/// A kind as a Swift type, because records are decoded, and remembered, by type.
package protocol TreeType: Sendable {
    static var kind: TreeKind { get }
}

package enum TreeTypes {
    package enum Node: TreeType { package static var kind: TreeKind { .node } }
    package enum Summary: TreeType { package static var kind: TreeKind { .summary } }
    package enum Owned: TreeType { package static var kind: TreeKind { .owned } }
    package enum Framed: TreeType { package static var kind: TreeKind { .framed } }
    package enum Caption: TreeType { package static var kind: TreeKind { .caption } }
    package enum Note: TreeType { package static var kind: TreeKind { .note } }
}
