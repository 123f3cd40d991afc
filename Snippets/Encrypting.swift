// Encrypts a cache, and changes its key.

#if Encryption
import Espalier
import Foundation

struct Note: Codable, NormalizedModel {
    let id: Int
    let text: String
    var modelIdentifier: String? { "Note:\(id)" }
}

func example(in directory: String) async throws {
    // snippet.open
    let key = EncryptionKey.random()  // store its `bytes` in the keychain
    let cache = try NormalizedCache(
        directory: directory, configuration: Configuration(encryption: Encryption(key: key)))
    // snippet.end
    try await cache.set(Note(id: 1, text: "Nobody else reads this")).committed
    cache.close()

    // snippet.wrong
    do {
        _ = try NormalizedCache(directory: directory)
    } catch {
        print(error.code == .wrongKey)  // true
    }
    // snippet.end

    // snippet.rotate
    let newKey = EncryptionKey.random()
    let both = Encryption(key: newKey, previousKeys: [key])
    let rotated = try NormalizedCache(
        directory: directory, configuration: Configuration(encryption: both))
    try await rotated.compact().committed  // from now on the new key alone is enough
    // snippet.end
    rotated.close()

    let reopened = try NormalizedCache(
        directory: directory, configuration: Configuration(encryption: Encryption(key: newKey)))
    print(await reopened.read(Note.self, "Note:1")?.text ?? "a miss")  // Nobody else reads this
    reopened.close()
}

let directory = NSTemporaryDirectory() + "encrypting-\(UUID().uuidString)"
defer { try? FileManager.default.removeItem(atPath: directory) }
try await example(in: directory)
#endif
