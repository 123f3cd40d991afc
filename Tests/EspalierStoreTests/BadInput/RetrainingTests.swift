import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Dictionaries replaced while threads read and write")
struct RetrainingTests {
    private func person(_ writer: Int, _ number: Int) -> Person {
        Person(
            "p:\(writer):\(number)",
            "Person number \(number) of writer \(writer), who lives in the house on the hill")
    }

    private func runThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            let thread = Thread { [group] in
                body(number)
                group.leave()
            }
            thread.stackSize = 8 << 20
            group.enter()
            thread.start()
        }
        group.wait()
    }

    @Test("Writes and reads succeed on any thread while compactions replace the dictionaries")
    func compacting() throws {
        try withCache { cache in
            let failures = Mutex<[String]>([])
            let numbers = Mutex<Set<UInt64>>([])
            let writing = Mutex(5)
            runThreads(6) { thread in
                func fail(_ what: String) { failures.withLock { $0.append(what) } }
                if thread == 5 {
                    while writing.withLock({ $0 > 0 }) {
                        if let code = code(cache.compact()) { fail("compact: \(code)") }
                        let now = try? cache.readStorage {
                            Set(try DictionaryTable(loading: $0, $1).entries.keys)
                        }
                        numbers.withLock { $0.formUnion(now ?? []) }
                    }
                    return
                }
                defer { writing.withLock { $0 -= 1 } }
                for number in 0..<60 {
                    let person = person(thread, number)
                    if let code = code(cache.set(person)) { fail("\(person.id): \(code)") }
                    let back = cache.read(Person.self, person.id)
                    if back != person { fail("\(person.id) is \(String(describing: back))") }
                    let earlier = self.person(thread, number / 2)
                    if cache.read(Person.self, earlier.id, consistency: .snapshot) != earlier {
                        fail("\(earlier.id) is gone")
                    }
                }
            }
            #expect(failures.withLock { $0 } == [])
            // At least one dictionary was removed while records were being written.
            let left = try cache.readStorage {
                Set(try DictionaryTable(loading: $0, $1).entries.keys)
            }
            #expect(numbers.withLock { $0.subtracting(left).count } > 0)
            for thread in 0..<5 {
                for number in 0..<60 {
                    #expect(
                        cache.read(Person.self, "p:\(thread):\(number)", access: .peek)
                            == person(thread, number))
                }
            }
        }
    }
}
