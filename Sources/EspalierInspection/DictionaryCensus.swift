import EspalierLMDB
package import EspalierRecords
package import EspalierStore

/// The dictionaries of a cache, and how its records are stored: with which dictionary, compressed
/// without one, or uncompressed.
///
/// ```swift
/// let census = try inspection.dictionaryCensus()
/// for dictionary in census.dictionaries { print(dictionary.number, dictionary.use.records) }
/// ```
///
/// The census does not contain the bytes of dictionaries, which consist of users' records.
package struct DictionaryCensus: Sendable {
    /// The records that are stored in one way.
    package struct Use: Sendable, Hashable {
        package init() {}

        package internal(set) var records = 0
        /// The bytes of the readable records, before compression and as stored.
        package internal(set) var rawBytes = 0
        package internal(set) var storedBytes = 0
        /// The number of records that can't be read.
        package internal(set) var unreadable = 0
        /// The stored bytes of the records that can't be read.
        package internal(set) var unreadableBytes = 0
    }

    package struct Dictionary: Sendable {
        package let number: UInt64
        /// The types of the shape whose records trained it; empty for the dictionary of all shapes
        /// without one of their own.
        package internal(set) var types: [String] = []
        /// Whether it was trained for one shape, even if the cache does not know that shape.
        package internal(set) var isForOneShape = false
        package internal(set) var byteCount = 0
        /// Whether new records are compressed with it.
        package internal(set) var isCurrent = false
        /// A description of its damage; nil for an intact dictionary.
        package internal(set) var problem: String?
        /// The number of its records as the cache counts them; nil if the list of dictionaries does
        /// not contain it.
        package internal(set) var countedRecords: UInt64?
        package internal(set) var use = Use()
    }

    /// The dictionaries in the order of their numbers. A dictionary that records use and that does
    /// not exist is among them, with a problem.
    package internal(set) var dictionaries: [Dictionary] = []
    package internal(set) var raw = Use()
    package internal(set) var withoutDictionary = Use()
    /// Records whose damage hides how they are stored.
    package internal(set) var unidentified = Use()
    /// Whether the list of the current dictionaries is damaged.
    package internal(set) var isListDamaged = false
    /// The most bytes that all dictionaries together may have.
    package internal(set) var allowance = ByteCount(0)

    /// The bytes of all dictionaries.
    package var byteCount: Int { dictionaries.reduce(0) { $0 + $1.byteCount } }
}

extension DictionaryCensus.Use {
    package mutating func add(_ other: DictionaryCensus.Use) {
        records += other.records
        rawBytes += other.rawBytes
        storedBytes += other.storedBytes
        unreadable += other.unreadable
        unreadableBytes += other.unreadableBytes
    }

    fileprivate mutating func add(_ record: Record, storedAs byteCount: Int) {
        records += 1
        rawBytes += record.rawByteCount
        storedBytes += byteCount
    }

    fileprivate mutating func addUnreadable(storedAs byteCount: Int) {
        records += 1
        unreadable += 1
        unreadableBytes += byteCount
    }
}

extension Inspection {
    /// Returns the dictionaries without the records that use them: `use` is empty.
    ///
    /// - Complexity: A look-up for each dictionary and each shape.
    package func dictionaries() throws -> DictionaryCensus {
        var census = DictionaryCensus()
        census.allowance = ByteCount(TrainingPolicy.allowance(of: generation.budget))
        let listed = try DictionaryTable(loading: snapshot, keyspaces)
        census.isListDamaged = listed.isDamaged
        let types = try typesOfShapes()
        let numbers = Set(listed.entries.keys).union(try snapshot.dictionaryNumbers(keyspaces))
        for number in numbers.sorted() {
            var dictionary = DictionaryCensus.Dictionary(number: number)
            let entry = listed.entries[number]
            try describe(&dictionary, entry, types, isListed: !listed.isDamaged)
            census.dictionaries.append(dictionary)
        }
        return census
    }

    /// Returns the dictionaries with the records that use them.
    ///
    /// - Complexity: O(*n*) in the records of the cache.
    package func dictionaryCensus() throws -> DictionaryCensus {
        var census = try dictionaries()
        var uses: [UInt64: DictionaryCensus.Use] = [:]
        try forEachRecord { handle, stored in
            let byteCount = try storedByteCount(of: handle) ?? 0
            if case .record(let record) = stored {
                uses[record.dictionaryNumber, default: .init()].add(record, storedAs: byteCount)
            } else if let layout = try? snapshot.layout(keyspaces, of: handle)?.layout {
                uses[layout.dictionaryNumber, default: .init()].addUnreadable(storedAs: byteCount)
            } else {
                census.unidentified.addUnreadable(storedAs: byteCount)
            }
            return true
        }
        census.raw = uses.removeValue(forKey: 0) ?? .init()
        census.withoutDictionary = uses.removeValue(forKey: RecordLayout.noDictionary) ?? .init()
        for index in census.dictionaries.indices {
            census.dictionaries[index].use =
                uses.removeValue(forKey: census.dictionaries[index].number) ?? .init()
        }
        for (number, use) in uses {
            census.dictionaries.append(.init(number: number, problem: "it is not there", use: use))
        }
        census.dictionaries.sort { $0.number < $1.number }
        return census
    }

    /// Returns the number of the dictionary of each record. The difference to a later result shows
    /// which records were compressed anew.
    ///
    /// - Complexity: A look-up for each record's header.
    package func dictionaryNumbers() throws -> [Handle: UInt64] {
        var numbers: [Handle: UInt64] = [:]
        try snapshot.forEachKey(in: keyspaces.nodes, from: [UInt8]()) { key in
            guard key.byteCount == 8 else { return true }
            let handle = try Handle(stored: key)
            if let layout = try? snapshot.layout(keyspaces, of: handle)?.layout {
                numbers[handle] = layout.dictionaryNumber
            }
            return true
        }
        return numbers
    }

    private func describe(
        _ dictionary: inout DictionaryCensus.Dictionary, _ entry: DictionaryTable.Entry?,
        _ types: [UInt64: [String]], isListed: Bool
    ) throws {
        var shape = entry?.shape ?? 0
        dictionary.byteCount = entry?.byteCount ?? 0
        dictionary.isCurrent = entry?.isCurrent ?? false
        dictionary.countedRecords = isListed ? entry?.recordCount : nil
        let (stored, usable, problem) = try self.dictionary(dictionary.number)
        dictionary.problem = problem
        if let stored {
            shape = stored.shape
            dictionary.byteCount = stored.bytes.count
        }
        if let usable {
            if entry == nil {
                dictionary.problem = "it is not listed"
            } else if entry?.fingerprint != usable.fingerprint {
                dictionary.problem = "it is not the one listed"
            }
        }
        dictionary.isForOneShape = shape != 0
        dictionary.types = types[shape] ?? []
    }

    private func typesOfShapes() throws -> [UInt64: [String]] {
        var types: [UInt64: [String]] = [:]
        try snapshot.forEach(in: keyspaces.shapes) { key, _ in
            guard key.byteCount == 8 else { return true }
            let number = try ByteReader.reading(key) { try $0.integer(UInt64.self) }
            if let shape = try? shape(number) { types[shape.fingerprint] = shape.types }
            return true
        }
        return types
    }
}
