import EspalierRecords

extension NormalizedCache {
    /// Puts records in place of what stands under their names, exactly as they are given: types and
    /// declarers, values, children. All of them in one commit, or none.
    ///
    /// A node that a record refers to and that is not there yet is lost, and what refers to it a
    /// miss, until it is restored or written, too. Stamps are those of the commit.
    ///
    /// The ticket fails with `.outOfRange` if a record is named twice.
    @discardableResult
    package func restore(_ records: [RestoredRecord], as restoration: Restoration = Restoration())
        -> WriteTicket
    {
        guard Set(records.map(RecordPlace.init)).count == records.count else {
            return WriteTicket(failed: .namedTwice)
        }
        guard records.allSatisfy({ !$0.identifier.isEmpty }) else {
            return WriteTicket(failed: .noIdentifier)
        }
        let limit = engine.writeLimits.maximumBytes
        return submit(isDroppable: false) { _ in
            let operation = WriteOperation.restore(records, restoration)
            guard operation.byteCount <= limit else {
                throw FlattenError.treeTooLarge(limit: limit)
            }
            return operation
        }
    }
}

/// What a record is found under.
private struct RecordPlace: Hashable {
    let nameSpace: NameSpace
    let identifier: Identifier

    init(_ record: RestoredRecord) {
        nameSpace = record.nameSpace
        identifier = Identifier(record.identifier)
    }
}

extension CacheError {
    fileprivate static let namedTwice = CacheError(
        .outOfRange, "A record is restored twice in one write. Leave one out.")

    /// Somebody else wrote to a collection between two parts of it.
    static let partsChanged = CacheError(
        .outOfRange, "The collection was changed while its parts were restored. Restore it again.")
}
