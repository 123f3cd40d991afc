/// A key of 256 bits with which an application encrypts a cache.
///
/// ```swift
/// let key = EncryptionKey(bytes: bytesFromTheKeychain)
/// ```
///
/// The cache stores no key. Keep the key where the system protects it, such as the keychain, and
/// not beside the cache. A key must be random: a password is none. The cache derives the keys that
/// it encrypts with from this one and from a random number of each file.
///
/// Its description, and that of everything that contains it, does not show the bytes.
public struct EncryptionKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The number of bytes of a key: 32.
    public static let byteCount = 32

    /// The bytes of the key.
    public let bytes: [UInt8]

    /// Makes a key of its bytes.
    ///
    /// - Parameter bytes: 32 random bytes.
    /// - Throws: ``WrongKeyLength`` if there are more or fewer.
    public init(bytes: [UInt8]) throws(WrongKeyLength) {
        guard bytes.count == Self.byteCount else { throw WrongKeyLength(byteCount: bytes.count) }
        self.bytes = bytes
    }

    /// Returns a new random key, from the generator of the system.
    public static func random() -> EncryptionKey {
        EncryptionKey(valid: RandomBytes.make(byteCount))
    }

    private init(valid bytes: [UInt8]) { self.bytes = bytes }

    public var description: String { "a key of \(Self.byteCount) bytes" }

    /// A mirror without the bytes, so that `dump` does not show them.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The bytes given for an ``EncryptionKey`` are not 32.
public struct WrongKeyLength: Error, Hashable, CustomStringConvertible {
    /// The number of bytes given.
    public let byteCount: Int

    public var description: String {
        "A key has \(EncryptionKey.byteCount) bytes, not \(byteCount). Use as many random bytes."
    }
}

/// Bytes of the system's generator, which is cryptographically secure.
enum RandomBytes {
    static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
