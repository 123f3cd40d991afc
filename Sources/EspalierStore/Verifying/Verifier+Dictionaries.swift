import EspalierLMDB
import EspalierRecords

extension Verifier {
    /// Every dictionary can be put together and is one to zstd.
    mutating func readDictionaries(_ transaction: borrowing ReadTransaction) throws {
        try transaction.forEach(in: keyspaces.dictionaries) { key, _ in
            if try ReadTransaction.dictionaryNumber(key) == nil {
                report.add(0, "a key of \(key.byteCount) bytes among the dictionaries")
            }
            return true
        }
        for number in try transaction.dictionaryNumbers(keyspaces) {
            do {
                let stored = try transaction.storedDictionary(keyspaces, number)
                guard let bytes = stored?.bytes, let dictionary = RecordDictionary(bytes) else {
                    report.add(0, "dictionary \(number): zstd refuses it")
                    continue
                }
                dictionaries[number] = dictionary.fingerprint
            } catch {
                report.add(0, "dictionary \(number): \(error)")
            }
        }
    }

    /// The list of dictionaries says what is there, and how many records use each.
    mutating func checkDictionaries(_ transaction: borrowing ReadTransaction) throws {
        let listed = try DictionaryNumbers(loading: transaction, keyspaces)
        guard !listed.isDamaged else { return report.add(0, "the list of dictionaries") }
        for (number, entry) in listed.entries {
            let used = dictionaryUse.removeValue(forKey: number) ?? 0
            if used != entry.recordCount {
                report.add(
                    5, "dictionary \(number) counts \(entry.recordCount) records and has \(used)")
            }
            if dictionaries.removeValue(forKey: number) != entry.fingerprint {
                report.add(5, "dictionary \(number) is not the one listed")
            }
        }
        for number in dictionaryUse.keys {
            report.add(5, "dictionary \(number) has records and is not listed")
        }
        for number in dictionaries.keys { report.add(5, "dictionary \(number) is not listed") }
    }
}
