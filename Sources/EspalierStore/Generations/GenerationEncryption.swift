import EspalierEncryption
import EspalierLMDB
import EspalierRecords

/// How the file of a generation is encrypted: its keys, and the protection of each keyspace.
///
///     index, pins, state, recency   a code follows each value; hashes of names are keys
///     info                          sealed, except for the format, the budget and the key header
///     nodes, long, shapes, dictionaries, changes   sealed
struct GenerationEncryption {
    /// The key of `info` under which the header stands.
    static let headerKey = [UInt8]("encryption".utf8)
    static let formatKey = [UInt8]("format".utf8)
    static let budgetKey = [UInt8]("budget".utf8)

    /// The bit of the format that is set in an encrypted file. A library without knowledge of
    /// encryption then takes the file for one of a newer version, and not for a damaged one.
    static let formatFlag: UInt32 = 1 << 16

    let header: KeyHeader
    let sealer: Sealer
    /// Whether the file is encrypted with `Encryption.key`, and not with a previous key.
    let hasNewestKey: Bool

    /// Makes the keys of a new file.
    init(new encryption: Encryption) throws(CacheError) {
        guard let (header, sealer) = KeyHeader.make(encryption.key) else {
            throw .encryptionUnavailable
        }
        self.header = header
        self.sealer = sealer
        hasNewestKey = true
    }

    /// Derives the keys of an existing file.
    ///
    /// - Parameters:
    ///   - stored: The header as the file holds it, or nil if it holds none.
    ///   - encryption: The keys of the application, or nil if it has none.
    /// - Returns: Nil for a file that is not encrypted.
    /// - Throws: `wrongKey`; `newerFormat`; a `FormatError` if the header is damaged.
    init?(stored: [UInt8]?, _ encryption: Encryption?) throws {
        guard let stored else {
            guard encryption == nil else { throw CacheError.notEncrypted }
            return nil
        }
        guard KeyHeader.isAvailable else { throw CacheError.encryptionUnavailable }
        guard let encryption else { throw CacheError.keyMissing }
        let bytes = try ByteReader.reading(stored) { reader in
            let end = try reader.verifiedEnd(seed: 0)
            return try reader.bytes(count: end)
        }
        guard let header = KeyHeader(bytes) else {
            throw CacheError(
                .newerFormat, "A newer library has encrypted the cache. Update the library.")
        }
        let keys = [encryption.key] + encryption.previousKeys
        for (index, key) in keys.enumerated() {
            guard let sealer = header.sealer(key) else { continue }
            self.header = header
            self.sealer = sealer
            hasNewestKey = index == 0
            return
        }
        throw CacheError.wrongKey
    }

    /// The header as the file holds it.
    var headerValue: [UInt8] {
        var writer = ByteWriter()
        writer.append(header.bytes)
        writer.append(integer: writer.check(seed: 0))
        return writer.bytes
    }

    /// Encrypts and decrypts the values of an environment from now on.
    static func protect(_ environment: Environment, with sealer: Sealer) {
        environment.protect(
            with: ValueProtection(sealer, environment) { name in
                switch name {
                case "index", "pins", "state", "recency": .authenticated
                case "info": .sealed(except: [headerKey, formatKey, budgetKey])
                default: .sealed(except: [])
                }
            })
    }
}

extension CacheError {
    static let wrongKey = CacheError(
        .wrongKey,
        """
        The cache is encrypted with another key. Open it with that key, or start anew. Nothing was \
        changed.
        """)

    static let keyMissing = CacheError(
        .wrongKey,
        "The cache is encrypted. Open it with its key, or start anew. Nothing was changed.")

    static let notEncrypted = CacheError(
        .wrongKey,
        """
        The cache is not encrypted, and was opened with a key. Open it without, or start anew. \
        Nothing was changed.
        """)

    static let encryptionUnavailable = CacheError(
        .wrongKey,
        """
        The cache is or would be encrypted, and this program was built without encryption. Build \
        it with the trait Encryption of the package. Nothing was changed.
        """)
}
