import Testing

@testable import EspalierStore

@Suite("The policy of training dictionaries")
struct TrainingPolicyTests {
    private func counters(_ change: (inout Counters) -> Void) -> Counters {
        var counters = Counters()
        counters.rawBytes = 10 << 20
        counters.bytesWritten = 10 << 20
        change(&counters)
        return counters
    }

    private func isDue(hasDictionaries: Bool = true, _ change: (inout Counters) -> Void) -> Bool {
        var dictionaries = DictionaryTable()
        let entry = DictionaryTable.Entry(fingerprint: 1, byteCount: 1_000)
        if hasDictionaries { dictionaries.replaceCurrent(with: (2, entry)) }
        return TrainingPolicy.isDue(counters(change), dictionaries, budget: .mebibytes(50))
    }

    @Test("The first training is due at 48 KiB")
    func first() {
        #expect(!isDue { $0.rawBytes = (48 << 10) - 1 })
        #expect(isDue { $0.rawBytes = 48 << 10 })
    }

    @Test("Training is due again at eight times the bytes, until there are plenty")
    func growth() {
        #expect(!isDue { $0.trainedAt = 2 << 20 })
        #expect(isDue { $0.trainedAt = (10 << 20) / 8 })
        #expect(
            !isDue {
                $0.trainedAt = 32 << 20
                $0.bytesWritten = 1 << 40
            })
    }

    @Test("Training is due again when payloads grow by 10 % over a sixteenth of the budget")
    func drift() {
        func isDue(raw: UInt64, stored: UInt64) -> Bool {
            self.isDue {
                $0.trainedAt = 9 << 20
                $0.trainedRatio = 400
                ($0.rawSinceTraining, $0.storedSinceTraining) = (raw, stored)
            }
        }
        #expect(!isDue(raw: 4_000_000, stored: 1_760_000))
        #expect(isDue(raw: 4_000_000, stored: 1_770_000))
        #expect(!isDue(raw: 3_000_000, stored: 3_000_000))
        #expect(!isDue(raw: 4_000_000, stored: 1_000_000))
    }

    @Test("Training is due again without dictionaries after a quarter of the budget")
    func without() {
        func isDue(_ raw: UInt64, hasDictionaries: Bool) -> Bool {
            self.isDue(hasDictionaries: hasDictionaries) {
                $0.trainedAt = 9 << 20
                $0.trainedRatio = 1_000
                ($0.rawSinceTraining, $0.storedSinceTraining) = (raw, raw)
            }
        }
        #expect(!isDue(13_000_000, hasDictionaries: false))
        #expect(isDue(13_200_000, hasDictionaries: false))
        #expect(!isDue(13_200_000, hasDictionaries: true))
    }

    @Test("Training is due when the dictionaries are too large for a smaller budget")
    func oversized() {
        var dictionaries = DictionaryTable()
        dictionaries.replaceCurrent(with: (2, .init(fingerprint: 1, byteCount: 30_000)))
        let counters = counters { $0.trainedAt = 9 << 20 }
        #expect(TrainingPolicy.isDue(counters, dictionaries, budget: .mebibytes(1)))
        #expect(!TrainingPolicy.isDue(counters, dictionaries, budget: .mebibytes(2)))
        dictionaries.replaceCurrent(with: nil)
        #expect(!TrainingPolicy.isDue(counters, dictionaries, budget: .mebibytes(1)))
    }
}
