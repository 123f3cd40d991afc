#if Encryption
import Crypto
#endif

/// The salt and the proof of an encrypted file, which are stored readably.
///
/// A process derives the keys of the file from the application's key and the salt. It compares the
/// proof to recognise a wrong key.
///
///     header = version (byte, 1), cipher (byte, 1: AES-256-GCM), salt (32 bytes), proof (32 bytes)
///
/// The salt is random, so two files have different keys even if the application uses one key for
/// both. The proof is derived like a key, and nothing is encrypted with it.
package struct KeyHeader: Sendable, Hashable {
    private static let version: UInt8 = 1
    private static let cipher: UInt8 = 1
    private static let saltSize = 32
    private static let proofSize = 32

    /// The number of bytes of a header.
    package static let byteCount = 2 + saltSize + proofSize

    /// Whether this build can encrypt: whether the trait `Encryption` is on.
    package static var isAvailable: Bool {
        #if Encryption
        true
        #else
        false
        #endif
    }

    private let salt: [UInt8]
    private let proof: [UInt8]

    /// The header as a file holds it.
    package var bytes: [UInt8] { [Self.version, Self.cipher] + salt + proof }

    /// Reads a header.
    ///
    /// - Parameter bytes: The header as a file holds it.
    /// - Returns: `nil` if the bytes have another length, or an unknown version or cipher.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] == Self.version, bytes[1] == Self.cipher
        else { return nil }
        salt = Array(bytes[2..<2 + Self.saltSize])
        proof = Array(bytes[(2 + Self.saltSize)...])
    }

    #if Encryption
    private init(salt: [UInt8], proof: [UInt8]) {
        self.salt = salt
        self.proof = proof
    }
    #endif

    /// Makes the header of a new file, and the sealer of the file.
    ///
    /// - Parameter key: The key of the application.
    /// - Returns: `nil` if the trait `Encryption` is off.
    /// - Complexity: Some ten microseconds.
    package static func make(_ key: EncryptionKey) -> (header: KeyHeader, sealer: Sealer)? {
        #if Encryption
        let salt = RandomBytes.make(saltSize)
        let header = KeyHeader(salt: salt, proof: FileKeys(key, salt: salt).proof)
        return header.sealer(key).map { (header, $0) }
        #else
        nil
        #endif
    }

    /// Returns the sealer of the file.
    ///
    /// - Parameter key: The key of the application.
    /// - Returns: `nil` if the file was made with another key, or if the trait `Encryption` is off.
    /// - Complexity: Some ten microseconds.
    package func sealer(_ key: EncryptionKey) -> Sealer? {
        #if Encryption
        let keys = FileKeys(key, salt: salt)
        // The proof is not secret, so the time of the comparison may depend on it.
        return keys.proof == proof ? Sealer(keys) : nil
        #else
        nil
        #endif
    }
}

#if Encryption
/// The keys of one file, derived from the application's key and the salt of the file by HKDF with
/// SHA-256. No two purposes share a key.
struct FileKeys {
    let values: SymmetricKey
    let entries: SymmetricKey
    let names: SymmetricKey
    let proof: [UInt8]

    init(_ key: EncryptionKey, salt: [UInt8]) {
        let extracted = HKDF<SHA256>.extract(
            inputKeyMaterial: SymmetricKey(data: key.bytes), salt: salt)
        func derive(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.expand(
                pseudoRandomKey: extracted, info: [UInt8]("espalier 1 \(purpose)".utf8),
                outputByteCount: 32)
        }
        values = derive("values")
        entries = derive("entries")
        names = derive("names")
        proof = unsafe derive("proof").withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
#endif
