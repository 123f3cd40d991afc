public import EspalierEncryption

/// How a cache is encrypted on the disk. Needs the package's trait `Encryption`.
///
/// ```swift
/// let key = try EncryptionKey(bytes: bytesFromTheKeychain)
/// let cache = try NormalizedCache(
///     directory: path, configuration: Configuration(encryption: Encryption(key: key)))
/// ```
///
/// Everything that an application stores is encrypted: identifiers, values, names of types and
/// fields, dictionaries and statistics. The number of records, their sizes, and the order in which
/// they were accessed stay visible. A changed or moved value is a miss.
///
/// An existing cache opens only with the key that it was made with. Otherwise opening throws
/// ``CacheError/Code-swift.enum/wrongKey`` and changes nothing. The same error is thrown for a
/// cache without encryption that is opened with a key, and for an encrypted one that is opened
/// without.
///
/// To change the key, open the cache with the new key and the old one, and call
/// ``NormalizedCache/compact(mayExceed:)``, which writes a new file with the new key:
///
/// ```swift
/// let encryption = Encryption(key: newKey, previousKeys: [oldKey])
/// let cache = try NormalizedCache(
///     directory: path, configuration: Configuration(encryption: encryption))
/// try await cache.compact().committed  // from now on the new key alone is enough
/// ```
public struct Encryption: Sendable, Hashable {
    /// The key that new files are encrypted with.
    public var key: EncryptionKey
    /// Further keys that an existing file may be encrypted with.
    public var previousKeys: [EncryptionKey]
    /// What happens if no key is that of the cache. Default: ``WrongKeyPolicy/throw``.
    public var whenKeyIsWrong: WrongKeyPolicy

    /// Makes options.
    ///
    /// - Parameters:
    ///   - key: The key that new files are encrypted with.
    ///   - previousKeys: Further keys that an existing file may be encrypted with.
    ///   - whenKeyIsWrong: What happens if no key is that of the cache.
    public init(
        key: EncryptionKey, previousKeys: [EncryptionKey] = [],
        whenKeyIsWrong: WrongKeyPolicy = .throw
    ) {
        self.key = key
        self.previousKeys = previousKeys
        self.whenKeyIsWrong = whenKeyIsWrong
    }
}

/// What happens if none of the given keys is that of the cache.
///
/// ```swift
/// Encryption(key: key, whenKeyIsWrong: .startAnew)
/// ```
public enum WrongKeyPolicy: String, Sendable, Hashable, CaseIterable {
    /// Opening throws ``CacheError/Code-swift.enum/wrongKey``, and nothing changes.
    case `throw`
    /// Opening deletes the contents and begins an empty cache with the key, also if the cache was
    /// not encrypted. A cache that is already open deletes nothing when another process changes the
    /// key: its reads miss and its writes fail.
    case startAnew
}
