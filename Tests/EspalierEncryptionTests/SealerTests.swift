#if Encryption
import Testing

@testable import EspalierEncryption

@Suite("Sealed values")
struct SealerTests {
    private static func sealer(_ key: EncryptionKey = .random()) throws -> (KeyHeader, Sealer) {
        let made = try #require(KeyHeader.make(key))
        return (made.header, made.sealer)
    }

    private static func seal(
        _ value: [UInt8], _ sealer: Sealer, in keyspace: UInt8 = 1, key: [UInt8] = [7]
    ) -> [UInt8] {
        unsafe sealer.withSealed(value.span.bytes, in: keyspace, key: key.span.bytes) { span in
            unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
        }
    }

    private static func open(
        _ sealed: [UInt8], _ sealer: Sealer, in keyspace: UInt8 = 1, key: [UInt8] = [7]
    ) -> [UInt8]? {
        unsafe sealer.open(sealed.span.bytes, in: keyspace, key: key.span.bytes)
    }

    @Test("A sealed value opens to what was sealed", arguments: [0, 1, 15, 16, 150, 4_052])
    func opening(count: Int) throws {
        let (_, sealer) = try Self.sealer()
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let sealed = Self.seal(value, sealer)
        #expect(sealed.count == count + Sealer.overhead)
        #expect(Self.open(sealed, sealer) == value)
    }

    @Test("A value that was changed, moved or cut does not open")
    func changing() throws {
        let (_, sealer) = try Self.sealer()
        let sealed = Self.seal([1, 2, 3], sealer)
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(Self.open(changed, sealer) == nil)
        }
        for count in 0..<sealed.count {
            #expect(Self.open(Array(sealed.prefix(count)), sealer) == nil)
        }
        #expect(Self.open(sealed + [0], sealer) == nil)
        #expect(Self.open(sealed, sealer, in: 2) == nil)
        #expect(Self.open(sealed, sealer, key: [8]) == nil)
        #expect(Self.open(sealed, sealer, key: [7, 0]) == nil)
    }

    @Test("No nonce occurs twice")
    func nonces() throws {
        let key = EncryptionKey.random()
        let (header, first) = try Self.sealer(key)
        let second = try #require(header.sealer(key))
        var nonces: Set<[UInt8]> = []
        for _ in 0..<2_000 {
            for sealer in [first, second] {
                nonces.insert(Array(Self.seal([], sealer).prefix(12)))
            }
        }
        #expect(nonces.count == 4_000)
    }

    @Test("A header gives the same keys again, and only with the same key")
    func header() throws {
        let key = EncryptionKey.random()
        let (header, sealer) = try Self.sealer(key)
        let read = try #require(KeyHeader(header.bytes))
        let again = try #require(read.sealer(key))
        #expect(Self.open(Self.seal([5], sealer), again) == [5])
        #expect(again.hash([1, 2]) == sealer.hash([1, 2]))
        #expect(read.sealer(.random()) == nil)
        let (_, other) = try Self.sealer(key)
        #expect(Self.open(Self.seal([5], sealer), other) == nil)
        #expect(other.hash([1, 2]) != sealer.hash([1, 2]))
        #expect(other.hash([1, 2]).count == Sealer.nameSize)
    }

    @Test("A header of an unknown version or cipher is refused")
    func unknownHeaders() throws {
        let (header, _) = try Self.sealer()
        for index in [0, 1] {
            var bytes = header.bytes
            bytes[index] = 2
            #expect(KeyHeader(bytes) == nil)
        }
        #expect(KeyHeader(Array(header.bytes.dropLast())) == nil)
    }

    @Test("A code depends on value, keyspace and key")
    func codes() throws {
        let (_, sealer) = try Self.sealer()
        func code(_ value: [UInt8], _ keyspace: UInt8, _ key: [UInt8]) -> UInt64 {
            unsafe sealer.code(of: value.span.bytes, in: keyspace, key: key.span.bytes)
        }
        let code1 = code([1], 1, [1])
        #expect(code([1], 1, [1]) == code1)
        #expect(Set([code1, code([2], 1, [1]), code([1], 2, [1]), code([1], 1, [2])]).count == 4)
    }

    @Test("Keys are derived as RFC 5869 says")
    func knownAnswer() throws {
        // The expected bytes are from another implementation of HKDF.
        let key = try EncryptionKey(bytes: (0..<32).map { UInt8($0) })
        let keys = FileKeys(key, salt: [UInt8](repeating: 9, count: 32))
        #expect(keys.proof.count == 32)
        #expect(keys.proof.map { String($0, radix: 16) }.joined() == Self.proof)
    }

    private static let proof = "848c4c7b64dd325d0b709aed3c3cbeb5d732a0d86cd6e52588a6a4e86caf2e"
}

@Suite("Keys")
struct EncryptionKeyTests {
    @Test("A key has 32 bytes", arguments: [0, 16, 31, 33])
    func length(count: Int) {
        #expect(throws: WrongKeyLength(byteCount: count)) {
            try EncryptionKey(bytes: [UInt8](repeating: 1, count: count))
        }
    }

    @Test("Random keys differ, and no key is printed")
    func random() {
        let (a, b) = (EncryptionKey.random(), EncryptionKey.random())
        #expect(a != b)
        #expect("\(a)" == "a key of 32 bytes")
    }
}
#endif
