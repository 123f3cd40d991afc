import Dispatch
import EspalierLMDB
import Testing

@Suite("Reader table")
struct ReaderTableTests {
    @Test("A read without a free slot throws .readersFull until another read ends")
    func readersFull() throws {
        let environment = try Scratch().open(readers: 2)
        try environment.read { _ in
            try environment.read { _ in
                #expect(code { try environment.read { _ in } } == .readersFull)
                try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
            }
            try environment.read { try #expect($0.value(environment.nodes, UInt64(1)) == [1]) }
        }
    }

    @Test("Reads of many threads wait for the few slots of the table")
    func waiting() throws {
        let environment = try Scratch().open(readers: 2)
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        let good = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<50 {
                if (try? environment.read { try $0.value(environment.nodes, UInt64(1)) }) == [1] {
                    good.add()
                }
            }
        }
        #expect(good.count == 400)
    }

    @Test("The reader table names the snapshot of each reader and its lag")
    func lag() throws {
        let environment = try Scratch().open()
        try environment.read { transaction in
            for number in UInt64(0)..<3 {
                try environment.write { try $0.put(environment.nodes, number, []) }
            }
            let readers = try environment.readers()
            #expect(readers.count == 1)
            #expect(readers.first?.transaction == transaction.number)
            #expect(readers.first?.lag == 3)
        }
        try #expect(environment.readers().first?.transaction == nil)
        try #expect(environment.clearStaleReaders() == 0)
    }
}
