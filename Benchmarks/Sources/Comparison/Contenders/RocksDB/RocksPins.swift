import CRocksDB

/// Values in the memory of RocksDB, its cache or its memory table: they stay there until the end of
/// the read.
struct RocksPins {
    private let database: OpaquePointer
    private let family: OpaquePointer
    private let options: OpaquePointer
    private var slices: [OpaquePointer] = []

    init(_ database: OpaquePointer, _ family: OpaquePointer, _ options: OpaquePointer) {
        self.database = database
        self.family = family
        self.options = options
    }

    mutating func get(_ key: UnsafeRawBufferPointer) throws -> HandReader? {
        let start = key.baseAddress?.assumingMemoryBound(to: CChar.self)
        let found: OpaquePointer? = try RocksStore.call {
            rocksdb_get_pinned(database, options, start, key.count, &$0)
        }
        return keep(found)
    }

    /// Reads the values of many keys, in their order.
    mutating func get(_ keys: [UnsafeRawBufferPointer]) throws -> [HandReader?] {
        if keys.isEmpty { return [] }
        let starts = keys.map { $0.baseAddress?.assumingMemoryBound(to: CChar.self) }
        var found = [OpaquePointer?](repeating: nil, count: keys.count)
        var complaints = [UnsafeMutablePointer<CChar>?](repeating: nil, count: keys.count)
        rocksdb_batched_multi_get_cf(
            database, options, family, keys.count, starts, keys.map(\.count), &found, &complaints,
            false)
        slices.reserveCapacity(slices.count + keys.count)
        let readers = found.map { keep($0) }
        defer { for complaint in complaints { rocksdb_free(complaint) } }
        if let complaint = complaints.lazy.compactMap(\.self).first {
            throw ComparisonError.rocksDB(String(cString: complaint))
        }
        return readers
    }

    private mutating func keep(_ found: OpaquePointer?) -> HandReader? {
        guard let found else { return nil }
        slices.append(found)
        var count = 0
        return rocksdb_pinnableslice_value(found, &count).map { HandReader(UnsafeRawPointer($0)) }
    }

    func release() { for slice in slices { rocksdb_pinnableslice_destroy(slice) } }
}
