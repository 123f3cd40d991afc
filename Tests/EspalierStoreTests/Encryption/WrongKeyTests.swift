import EspalierEncryption
import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

#if Encryption
@Suite("A wrong key is an error")
struct WrongKeyTests {
    private static let plain = Configuration(durability: .noSync)

    /// Returns a directory with a cache of one person.
    private static func stored(_ configuration: Configuration) throws -> Scratch {
        let scratch = try Scratch()
        let cache = try scratch.open(configuration)
        try cache.set(Person("p:1", "Ada")).wait()
        cache.close()
        return scratch
    }

    private static let cases: [(Configuration, Configuration)] = [
        (.encrypted(1), .encrypted(2)), (.encrypted(1), plain), (plain, .encrypted(1)),
        (.encrypted(1), .encrypted(2, previous: [3, 4])),
    ]

    @Test("A cache opened with the wrong key throws, and nothing changes", arguments: 0..<4)
    func wrongKey(number: Int) throws {
        let (right, wrong) = Self.cases[number]
        let scratch = try Self.stored(right)
        let before = try scratch.files().filter { $0.key.hasSuffix("data.mdb") }
        for _ in 0..<3 {
            #expect(code { _ = try scratch.open(wrong) } == .wrongKey)
            #expect(
                code {
                    _ = try NormalizedCache.existing(
                        directory: scratch.directory, configuration: wrong)
                } == .wrongKey)
            var lenient = wrong
            lenient.onFailure = .missAlways
            #expect(code { _ = try scratch.open(lenient) } == .wrongKey)
            lenient.isReadOnly = true
            #expect(code { _ = try scratch.open(lenient) } == .wrongKey)
        }
        #expect(try scratch.files().filter { $0.key.hasSuffix("data.mdb") } == before)
        let cache = try scratch.open(right)
        #expect(cache.read(Person.self, "p:1")?.name == "Ada")
        try expectClean(cache)
        cache.close()
    }

    @Test(
        "A cache starts anew with a wrong key where the application asks for it", arguments: 0..<4)
    func startingAnew(number: Int) async throws {
        let (right, wrong) = Self.cases[number]
        let scratch = try Self.stored(right)
        guard var encryption = wrong.encryption else { return }
        encryption.whenKeyIsWrong = .startAnew
        var configuration = wrong
        configuration.encryption = encryption
        let cache = try scratch.open(configuration)
        #expect(await cache.readOutcome(Person.self, "p:1").reason == .notFound)
        try await cache.set(Person("p:1", "Grace")).committed
        cache.close()
        let reopened = try scratch.open(wrong)
        #expect(await reopened.read(Person.self, "p:1")?.name == "Grace")
        reopened.close()
        #expect(code { _ = try scratch.open(right) } == .wrongKey)
    }

    @Test("Starting anew keeps a cache whose key is right")
    func notAnew() throws {
        let scratch = try Self.stored(.encrypted(1))
        let cache = try scratch.open(.encrypted(2, previous: [1], .startAnew))
        #expect(cache.read(Person.self, "p:1")?.name == "Ada")
        cache.close()
    }

    @Test("A previous key opens a cache, and removing everything changes the key")
    func removingAll() throws {
        let scratch = try Self.stored(.encrypted(1))
        let cache = try scratch.open(.encrypted(2, previous: [1]))
        #expect(cache.read(Person.self, "p:1")?.name == "Ada")
        try cache.removeAll().wait()
        try cache.set(Person("p:2", "Grace")).wait()
        cache.close()
        #expect(code { _ = try scratch.open(.encrypted(1)) } == .wrongKey)
        let reopened = try scratch.open(.encrypted(2))
        #expect(reopened.read(Person.self, "p:2")?.name == "Grace")
        reopened.close()
    }

    @Test("A damaged key header counts as damage, and not as a wrong key")
    func damagedHeader() throws {
        let scratch = try Self.stored(.encrypted(1))
        try scratch.withStoredValues { environment in
            let info = environment.keyspace("info")
            try environment.write { transaction in
                let key = GenerationEncryption.headerKey
                guard var header = try transaction.value(info, key) else { throw Missing() }
                header[20] ^= 1
                try transaction.put(info, key, header)
            }
        }
        let cache = try scratch.open(.encrypted(1))
        #expect(cache.readOutcome(Person.self, "p:1").reason == .notFound)
        cache.close()
    }

    @Test("Keys are not printed")
    func printing() {
        let key = EncryptionKey.numbered(65)
        let text = "\(key) \(Configuration(encryption: Encryption(key: key)))"
        var dumped = ""
        dump(Configuration(encryption: Encryption(key: key)), to: &dumped)
        for text in [text, dumped] {
            #expect(!text.contains("\(key.bytes[0]), \(key.bytes[1])"))
            #expect(!text.contains("- \(key.bytes[5])"))
        }
    }
}
#else
@Suite("A build without encryption")
struct UnavailableEncryptionTests {
    @Test("A new cache with a key is an error, and nothing is stored")
    func newCache() throws {
        let scratch = try Scratch()
        let configuration = Configuration(encryption: Encryption(key: .numbered(1)))
        #expect(code { _ = try scratch.open(configuration) } == .wrongKey)
    }

    @Test("A cache with a key header is an error with and without a key, and nothing is deleted")
    func encryptedCache() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Configuration(durability: .noSync))
        try cache.set(Person("p:1", "Ada")).wait()
        try cache.tamper { transaction, keyspaces in
            try transaction.put(
                keyspaces.info, GenerationEncryption.headerKey, [UInt8](repeating: 1, count: 74))
        }
        cache.close()
        for encryption in [nil, Encryption(key: .numbered(1), whenKeyIsWrong: .startAnew)] {
            let configuration = Configuration(durability: .noSync, encryption: encryption)
            #expect(code { _ = try scratch.open(configuration) } == .wrongKey)
        }
        #expect(CacheDirectory(scratch.directory).generations().count == 1)
    }
}
#endif
