/// A key of 256 bits with which an application encrypts a cache.
///
/// ```swift
/// let key = try EncryptionKey(bytes: bytesFromTheKeychain)
/// ```
///
/// The cache does not store the key. Keep it where the system protects it, such as the keychain,
/// and not beside the cache. The bytes must be random: a password is not a key. The cache derives
/// the keys of each file from this key and a random number in the file.
///
/// The description of a key does not show its bytes, nor does that of a value that contains it.
public struct EncryptionKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The number of bytes of a key: 32.
    public static let byteCount = 32

    /// The bytes of the key.
    public let bytes: [UInt8]

    /// Makes a key from its bytes.
    ///
    /// - Parameter bytes: 32 random bytes.
    /// - Throws: ``WrongKeyLength`` if there are not 32 bytes.
    public init(bytes: [UInt8]) throws(WrongKeyLength) {
        guard bytes.count == Self.byteCount else { throw WrongKeyLength(byteCount: bytes.count) }
        self.bytes = bytes
    }

    /// Returns a new random key, from the generator of the system.
    ///
    /// Store its ``bytes``: without them the cache can't be read again.
    public static func random() -> EncryptionKey {
        EncryptionKey(valid: RandomBytes.make(byteCount))
    }

    private init(valid bytes: [UInt8]) { self.bytes = bytes }

    public var description: String { "a key of \(Self.byteCount) bytes" }

    /// A mirror without the bytes, so that `dump` does not show them.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Thrown if the bytes given for an ``EncryptionKey`` are not 32.
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
