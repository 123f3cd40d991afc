import EspalierLMDB
package import EspalierRecords

extension Inspection {
    /// The bytes under a handle, taken apart as far as they can be; nil if there are none.
    package func anatomy(of handle: Handle) throws -> RecordAnatomy? {
        var values: [(number: UInt32, bytes: [UInt8])] = []
        try snapshot.forEach(in: keyspaces.nodes, from: handle.rawValue) { key, value in
            let found: (handle: UInt64, chunk: UInt32)? = try ByteReader.reading(key) { key in
                guard key.end == 8 || key.end == 12 else { return nil }
                return (
                    try key.integer(UInt64.self), key.isAtEnd ? 0 : try key.integer(UInt32.self)
                )
            }
            guard let found else { return true }
            guard found.handle == handle.rawValue else { return false }
            values.append(
                (found.chunk, try ByteReader.reading(value) { try $0.bytes(count: $0.end) }))
            return true
        }
        guard values.first?.number == 0 else { return nil }
        var anatomy = RecordAnatomy(of: handle, values: values, by: decompressor) { try shape($0) }
        // A check that does not match may be the dictionary's, which all of its records fail with.
        if anatomy.problem != nil, let number = anatomy.dictionaryNumber,
            number > RecordLayout.noDictionary,
            let problem = try problem(ofDictionary: number)
        {
            anatomy.problem = "dictionary \(number): \(problem)"
        }
        return anatomy
    }

    private func problem(ofDictionary number: UInt64) throws -> String? {
        do {
            guard let stored = try snapshot.storedDictionary(keyspaces, number) else {
                return "it is not there"
            }
            return RecordDictionary(stored.bytes) == nil ? "zstd refuses it" : nil
        } catch let error as FormatError {
            return ReadFailure.detail(of: error)
        }
    }

    /// The shape of a number; nil if there is none.
    package func shape(_ number: UInt64) throws -> Shape? {
        try snapshot.storedShape(keyspaces, number)?.shape
    }
}
