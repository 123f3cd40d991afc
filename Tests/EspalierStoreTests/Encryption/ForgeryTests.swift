#if Encryption
import EspalierLMDB
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Values that were changed or moved in an encrypted file are misses")
struct ForgeryTests {
    private static let messages = 12

    private static func message(_ number: Int) -> Message {
        Message("m:\(number)", from: Person("p:\(number % 4)", "Person \(number % 4)"))
    }

    /// Returns a directory with a closed cache of messages.
    private static func stored() throws -> Scratch {
        let scratch = try Scratch()
        let cache = try scratch.open(.encrypted())
        for number in 0..<messages { cache.set(message(number)) }
        cache.setCollection((0..<4).map { Person("p:\($0)", "Person \($0)") }, forKey: "c")
        try cache.pin("m:1").wait()
        cache.close()
        return scratch
    }

    /// Reads everything. Every hit has to be what was written. Returns the number of misses.
    private static func misses(_ scratch: Scratch, _ what: String) throws -> Int {
        let cache = try scratch.open(.encrypted())
        defer { cache.close() }
        var misses = 0
        for number in 0..<messages {
            let read = cache.read(Message.self, "m:\(number)")
            if let read { #expect(read == message(number), "\(what)") } else { misses += 1 }
        }
        for number in 0..<4 {
            let read = cache.read(Person.self, "p:\(number)")
            if let read { #expect(read.name == "Person \(number)", "\(what)") } else { misses += 1 }
        }
        return misses
    }

    /// Changes the closed cache as `body` says, reads it, and puts it back.
    private static func withChange(
        _ scratch: Scratch, _ what: String,
        _ body: (inout WriteTransaction, Environment) throws -> Void
    ) throws -> Int {
        let copy = scratch.root + "/copy"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: scratch.directory, toPath: copy)
        try scratch.withStoredValues { environment in
            try environment.write { try body(&$0, environment) }
        }
        let misses = try misses(scratch, what)
        try FileManager.default.removeItem(atPath: scratch.directory)
        try FileManager.default.moveItem(atPath: copy, toPath: scratch.directory)
        return misses
    }

    @Test("A flipped bit of any value gives what was written, or a miss")
    func flips() throws {
        let scratch = try Self.stored()
        let values = try scratch.withStoredValues { try StoredValue.all(in: $0) }
            .filter { !$0.value.isEmpty && $0.keyspace != "info" }
        // Five bits of each value, one after the other.
        let places = (0..<5).flatMap { _ in values }
        #expect(places.count > 20)
        var random = SeededGenerator(seed: 4)
        var misses: [String: Int] = [:]
        for (number, stored) in places.enumerated() {
            var value = stored.value
            let bit = Int.random(in: 0..<value.count * 8, using: &random)
            value[bit / 8] ^= 1 << (bit % 8)
            misses[stored.keyspace, default: 0] += try Self.withChange(
                scratch, "bit \(bit) of value \(number), in \(stored.keyspace)"
            ) { transaction, environment in
                try transaction.put(environment.keyspace(stored.keyspace), stored.key, value)
            }
        }
        #expect(try Self.misses(scratch, "unchanged") == 0)
        for keyspace in ["nodes", "index", "shapes"] {
            #expect(misses[keyspace, default: 0] > 0, "no change of \(keyspace) was noticed")
        }
    }

    @Test(
        "A value under the key of another one is a miss", arguments: ["nodes", "index", "shapes"])
    func moved(keyspace: String) throws {
        let scratch = try Self.stored()
        let values = try scratch.withStoredValues { try StoredValue.all(in: $0) }
            .filter { $0.keyspace == keyspace }
        // The reads do not need the record of the collection.
        var misses = 0
        for (a, b) in zip(values, values.dropFirst()) {
            misses += try Self.withChange(scratch, "swapped in \(keyspace)") {
                transaction, environment in
                try transaction.put(environment.keyspace(keyspace), a.key, b.value)
                try transaction.put(environment.keyspace(keyspace), b.key, a.value)
            }
        }
        #expect(misses >= values.count - 1)
    }

    @Test("Metadata that does not open is damage: the cache begins anew or misses")
    func metadata() throws {
        let scratch = try Self.stored()
        for name in ["counters", "statistics", "dictionaries"] {
            let key = [UInt8](name.utf8)
            _ = try Self.withChange(scratch, name) { transaction, environment in
                let info = environment.keyspace("info")
                guard var value = try transaction.value(info, key) else { return }
                value[value.count / 2] ^= 4
                try transaction.put(info, key, value)
            }
        }
        #expect(try Self.misses(scratch, "unchanged") == 0)
    }

    @Test("A value without a code is a miss")
    func short() throws {
        let scratch = try Self.stored()
        for keyspace in ["nodes", "index", "shapes"] {
            for count in [0, 1, 7, 27] {
                let misses = try Self.withChange(scratch, "\(count) bytes in \(keyspace)") {
                    transaction, environment in
                    var keys: [[UInt8]] = []
                    for stored in try StoredValue.all(in: environment)
                    where stored.keyspace == keyspace { keys.append(stored.key) }
                    for key in keys {
                        try transaction.put(
                            environment.keyspace(keyspace), key,
                            [UInt8](repeating: 0, count: count))
                    }
                }
                #expect(misses == Self.messages + 4)
            }
        }
    }
}
#endif
