#if CommandLine
import ArgumentParser
import EspalierEncryption
import EspalierStore
import Foundation
import Synchronization

/// The keys of an encrypted cache: files named by an option, or by the environment.
struct KeyOption: ParsableArguments {
    /// The variable of the environment that names a key file for commands without the option.
    static let variable = "ESPALIER_KEY_FILE"

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "A file with the key of an encrypted cache: 32 bytes, or 64 hexadecimal digits.",
            discussion: """
                Without the option, the variable \(variable) names the file. Repeat the option to \
                name previous keys; compact replaces them by the first one.
                """,
            valueName: "file"),
        completion: .file())
    var keyFiles: [String] = []

    /// The keys, or nil if none are named.
    ///
    /// - Throws: `CommandFailure` if a file can't be read or holds no key.
    func encryption(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> Encryption? {
        var files = keyFiles
        if files.isEmpty, let file = environment[Self.variable], !file.isEmpty { files = [file] }
        var keys: [EncryptionKey] = []
        for file in files { keys.append(try Self.key(in: file)) }
        guard let first = keys.first else { return nil }
        guard KeyHeader.isAvailable else {
            throw CommandFailure(
                """
                \(keyFiles.isEmpty ? Self.variable : "--key-file"): this espalier was built \
                without encryption. Build it with the trait Encryption.
                """)
        }
        return Encryption(key: first, previousKeys: Array(keys.dropFirst()))
    }

    private static func key(in file: String) throws(CommandFailure) -> EncryptionKey {
        if let known = known.withLock({ $0[file] }) { return known }
        let key = try readKey(in: file)
        known.withLock { $0[file] = key }
        return key
    }

    /// The keys that were read. A pipe can be read only once, and a command may open two caches.
    private static let known = Mutex<[String: EncryptionKey]>([:])
    /// More than any key file has.
    private static let sizeLimit = 4_096

    private static func readKey(in file: String) throws(CommandFailure) -> EncryptionKey {
        let data = try CommandFailure.naming(file) {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            defer { try? handle.close() }
            var data = Data()
            while data.count < sizeLimit,
                let part = try handle.read(upToCount: sizeLimit - data.count), !part.isEmpty
            {
                data += part
            }
            return data
        }
        if let key = try? EncryptionKey(bytes: Array(data)) { return key }
        let digits = String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace }
        if digits.utf8.count == 2 * EncryptionKey.byteCount,
            let key = try? EncryptionKey(bytes: bytes(ofHexadecimal: digits))
        {
            return key
        }
        throw CommandFailure(
            "\(file): no key. A key file holds 32 random bytes, or 64 hexadecimal digits.")
    }

    /// Returns the bytes that pairs of digits stand for; none where a character is no digit.
    private static func bytes(ofHexadecimal digits: String) -> [UInt8] {
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.utf8.count else { return [] }
        return stride(from: 0, to: values.count, by: 2).map {
            UInt8(values[$0] * 16 + values[$0 + 1])
        }
    }
}
#endif
