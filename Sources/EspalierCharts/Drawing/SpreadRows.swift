/// Moves rows as little as makes them not overlap.
enum SpreadRows {
    /// - Parameter places: ascending.
    static func spread(_ places: [Double], apart gap: Double, within range: ClosedRange<Double>)
        -> [Double]
    {
        // Rows that touch become one block around the middle of where they would be.
        struct Block {
            var middle: Double
            var count: Int
        }
        func start(_ block: Block) -> Double {
            let half = Double(block.count - 1) * gap / 2
            return max(min(block.middle - half, range.upperBound - 2 * half), range.lowerBound)
        }
        var blocks: [Block] = []
        for place in places {
            blocks.append(Block(middle: place, count: 1))
            while blocks.count > 1 {
                let (before, last) = (blocks[blocks.count - 2], blocks[blocks.count - 1])
                guard start(before) + Double(before.count) * gap > start(last) else { break }
                let count = before.count + last.count
                let sum = before.middle * Double(before.count) + last.middle * Double(last.count)
                blocks.removeLast(2)
                blocks.append(Block(middle: sum / Double(count), count: count))
            }
        }
        return blocks.flatMap { block in (0..<block.count).map { start(block) + Double($0) * gap } }
    }
}
