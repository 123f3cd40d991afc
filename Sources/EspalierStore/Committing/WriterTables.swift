import EspalierRecords

/// What the writer knows by heart of the generation it wrote to last, as of its last commit.
struct WriterTables {
    var shapes: ShapeNumbers
    var dictionaries: DictionaryNumbers
    let reach: PinnedReach
    let names: VerifiedIndexEntries
}

/// What a commit changed of the tables that readers have.
struct ChangedTables {
    /// Numbers that are taken, and with nil those that are free of records.
    let shapes: [(number: UInt64, shape: Shape?)]
    let droppedDictionaries: [UInt64]
}
