// Reads with a recorder, which keeps the models of the tree, or hands out those that it has.
//
// Only `record` is generic: it is specialised where the model is, and looks up no metadata.
extension TreeReader {
    /// Decodes the tree below `handle`, or takes it from the recorder, and records it.
    @inlinable @inline(never)
    func record<Model>(
        _ handle: Handle, in recorder: TreeRecorder, _ isCacheable: () -> Bool,
        _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        let type = ObjectIdentifier(Model.self)
        let list = recorder.list(of: Model.self, isCacheable)
        let known = try startRecording(handle, as: type, in: recorder, list.number)
        if known >= 0 { return list.models[known] }
        if known == Self.isMemoized, let model = takeMemoized() as? Model { return model }
        do {
            let model = try decode(handle, make)
            list.models.append(model)
            let repeated = finishRecording(in: recorder, list.number, list.models.count - 1)
            if let (nodes, place) = repeated {
                memoize(model, handle, type, nodes: nodes, at: place)
            }
            return model
        } catch {
            failRecording(handle, as: type, in: recorder, error)
            throw error
        }
    }

    @usableFromInline static var isNew: Int { -1 }
    @usableFromInline static var isMemoized: Int { -2 }

    /// Steps into a record, and out of it again if its model is there. Returns where the model
    /// stands in its list, `isMemoized` if the read has made it before, and `isNew` if it has
    /// to be decoded.
    @usableFromInline
    func startRecording(
        _ handle: Handle, as type: ObjectIdentifier, in recorder: TreeRecorder, _ list: Int
    ) throws -> Int {
        let isRepeated = try visit(handle, type)
        if recorder.olderTree != nil,
            let (position, counts) = recorder.reuse(handle, list: list, within: countsLeft)
        {
            path.turnBack()
            count(counts)
            return position
        }
        if isRepeated, let model = try memoized(handle, type) {
            state.memoized = model
            return Self.isMemoized
        }
        recorder.enter(handle, isRepeated: isRepeated, counts)
        return Self.isNew
    }

    /// Counts what was taken from the older tree.
    private func count(_ counts: ReadCounts) {
        state.nodesLeft -= counts.logicalNodes
        state.bytesLeft -= counts.bytes
        state.recordCount += counts.records
        state.deepest = max(state.deepest, state.depth + counts.depth)
        state.isAtEntry = false
    }

    /// Returns the older tree and its models of a type; nil if the read has to look at each model.
    @usableFromInline
    func olderModels(_ type: ObjectIdentifier) -> (tree: RecordedTree, list: ModelList)? {
        guard let recorder, let tree = recorder.olderTree, !checksAllAges, !notesFollowed,
            let list = recorder.list(of: type)
        else { return nil }
        return (tree, list)
    }

    /// Takes over the models of as many as possible of the next references, and moves past these.
    /// Returns the nodes in the older tree.
    ///
    /// - Parameters:
    ///   - reader: Stands at the first of `most` elements.
    ///   - children: The children of the record, see `child(_:of:)`.
    func takeRun(
        _ reader: inout ByteReader, most: Int, _ children: Range<Int>, from list: ModelList
    ) -> Range<Int>? {
        var (left, ahead) = (most, reader)
        let run = recorder?.reuseRun(list: list.number, within: countsLeft) { handle in
            ahead = reader
            guard left > 0, let ordinal = try? ahead.readChild() else { return false }
            return (try? child(ordinal, of: children)) == handle
        } take: { handle in
            reader = ahead
            left -= 1
            path.pass(handle, list.type)
        }
        guard let run else { return nil }
        count(run.counts)
        return run.nodes
    }

    /// Returns the model of a record that the read has made before.
    @usableFromInline
    func takeMemoized() -> Any? {
        defer { state.memoized = nil }
        return state.memoized
    }

    /// Notes where the model of the record just left stands. Returns the number of nodes of its
    /// subtree, and the first of them, if the read has met the record before.
    @usableFromInline
    func finishRecording(
        in recorder: TreeRecorder, _ list: Int, _ position: Int
    ) -> (nodes: Int, place: Int)? {
        let before = recorder.logicalNodesBefore
        return recorder.leave(list: list, position: position, total)
            .map { (logicalNodes - before, $0) }
    }

    @usableFromInline
    func failRecording(
        _ handle: Handle, as type: ObjectIdentifier, in recorder: TreeRecorder, _ error: any Error
    ) {
        let before = recorder.logicalNodesBefore
        let isDeletion = (error as? ReadFailure)?.cause == .deleted
        guard let place = recorder.leaveFailed(isDeletion: isDeletion, total) else { return }
        memoizeDeletion(error, handle, type, nodes: logicalNodes - before, at: place)
    }

    /// What the read has counted.
    var counts: ReadCounts {
        ReadCounts(
            depth: state.depth, logicalNodes: logicalNodes, bytes: byteCount,
            records: state.recordCount)
    }

    /// What the whole read has counted, with its deepest level.
    var total: ReadCounts {
        var total = counts
        total.depth = state.deepest
        return total
    }

    /// What the read may still count.
    private var countsLeft: ReadCounts {
        ReadCounts(
            depth: limits.maximumDepth - state.depth, logicalNodes: state.nodesLeft,
            bytes: state.bytesLeft, records: 0)
    }

    /// The bytes of the records that the read has read.
    package var byteCount: Int { limits.maximumBytes - state.bytesLeft }
}
