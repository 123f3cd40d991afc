/// One value on its way through the bridge, in either direction, and the values around it.
protocol BridgeFrame: AnyObject {
    /// The frame of the value around this one.
    var parent: Self? { get }
    /// Where the value stands in that one.
    var key: BridgeKey? { get }
}

extension BridgeFrame {
    // Not by recursion, because errors are made where the stack ends.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame: Self? = self
        while let here = frame {
            if let key = here.key { path.append(key) }
            frame = here.parent
        }
        return path.reversed()
    }
}
