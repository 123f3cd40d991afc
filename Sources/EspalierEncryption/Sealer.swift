#if Encryption
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encrypts and authenticates the values of one file, and hashes names that are keys in the file.
///
/// ```swift
/// sealer.withSealed(record, in: 2, key: handle) { transaction.put($0) }
/// let record = sealer.open(stored, in: 2, key: handle)  // nil: forged, damaged or moved
/// ```
///
///     sealed        = nonce (12 bytes), AES-256-GCM of the value, tag (16 bytes)
///     authenticated = value, the first 8 bytes of an HMAC-SHA256
///     name          = 4 bytes of an HMAC-SHA256 of its group, 12 bytes of one of the name
///
/// Every tag and code also covers the number of the keyspace and the key of the entry: a value that
/// was moved to another entry does not open.
///
/// A nonce has 96 bits. Each sealer draws its first nonce at random and counts up from there. A
/// nonce occurs twice only if the ranges of two sealers of one file overlap, which is less probable
/// than a repetition among random nonces.
///
/// All threads may use a sealer. A forked child must not, because it would repeat its parent's
/// nonces; environments refuse to work in a forked child.
package final class Sealer: Sendable {
    // immutable
    private let valueKey: SymmetricKey
    /// States that have taken in their keys already: a copy saves two thirds of the time of a code.
    private let entryCode: HMAC<SHA256>
    private let nameCode: HMAC<SHA256>
    private let nonceStart: UInt32

    // shared by all threads
    private let nonceCount: Atomic<UInt64>
    /// The groups of names that were hashed last, and the hash of each; nil in an unused slot.
    private let groups = Mutex<[(name: [UInt8], digest: [UInt8]?)]>(
        Array(repeating: ([], nil), count: groupCount))

    init(_ keys: FileKeys) {
        valueKey = keys.values
        entryCode = HMAC(key: keys.entries)
        nameCode = HMAC(key: keys.names)
        var generator = SystemRandomNumberGenerator()
        nonceStart = generator.next()
        nonceCount = Atomic(generator.next())
    }

    /// Calls `body` with a sealed value.
    ///
    /// - Parameters:
    ///   - value: The value to encrypt.
    ///   - keyspace: The number of the keyspace that the value goes to.
    ///   - key: The key of the entry.
    ///   - body: Stores the sealed value, which is valid until `body` returns.
    /// - Returns: The value that `body` returns.
    /// - Throws: Rethrows the errors of `body`.
    /// - Complexity: 1.1 microseconds for a short value, and 0.1 for each further 500 bytes. Three
    ///   allocations.
    package func withSealed<R, E: Error>(
        _ value: RawSpan, in keyspace: UInt8, key: RawSpan, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let sealed: Data = unsafe value.withUnsafeBytes { value in
            unsafe Self.withContext(keyspace, key) { context in
                guard
                    let box = try? unsafe AES.GCM.seal(
                        value, using: valueKey, nonce: nextNonce(), authenticating: context),
                    let combined = box.combined
                else {
                    preconditionFailure("AES-256-GCM failed with a key and a nonce of its size")
                }
                return combined
            }
        }
        return try body(sealed.bytes)
    }

    /// Returns the content of a sealed value.
    ///
    /// - Parameters:
    ///   - sealed: The value as it was stored.
    ///   - keyspace: The number of the keyspace that it stands in.
    ///   - key: The key that it stands under.
    /// - Returns: `nil` if the value was changed, moved, or sealed with another key.
    /// - Complexity: 0.9 microseconds for a short value, and 0.1 for each further 500 bytes. Four
    ///   allocations.
    package func open(_ sealed: RawSpan, in keyspace: UInt8, key: RawSpan) -> [UInt8]? {
        unsafe sealed.withUnsafeBytes { sealed in
            unsafe Self.withContext(keyspace, key) { context in
                guard let box = try? unsafe AES.GCM.SealedBox(combined: sealed),
                    let value = try? unsafe AES.GCM.open(
                        box, using: valueKey, authenticating: context)
                else { return nil }
                return [UInt8](value)
            }
        }
    }

    private func nextNonce() throws -> AES.GCM.Nonce {
        let count = nonceCount.wrappingAdd(1, ordering: .relaxed).newValue
        return try unsafe withUnsafeBytes(of: (count, nonceStart)) { bytes in
            // The last four bytes may be a gap of the tuple.
            try unsafe AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: bytes.prefix(12)))
        }
    }

    /// Calls `body` with the bytes that identify an entry: the number of its keyspace and its key.
    private static func withContext<R>(
        _ keyspace: UInt8, _ key: RawSpan, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        unsafe withUnsafeTemporaryAllocation(byteCount: 1 + key.byteCount, alignment: 1) { bytes in
            unsafe bytes[0] = keyspace
            unsafe key.withUnsafeBytes { key in
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: key)
            }
            return unsafe body(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Returns the code that binds a readable value to its entry.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - keyspace: The number of its keyspace.
    ///   - key: The key of its entry.
    /// - Complexity: 0.4 microseconds for a short value. Two allocations.
    package func code(of value: RawSpan, in keyspace: UInt8, key: RawSpan) -> UInt64 {
        var code = entryCode
        unsafe Self.withContext(keyspace, key) { context in
            // No length is necessary: all keys of a keyspace with codes have the same length.
            unsafe code.update(data: context)
        }
        unsafe value.withUnsafeBytes { unsafe code.update(data: $0) }
        return unsafe code.finalize().withUnsafeBytes {
            unsafe $0.loadUnaligned(as: UInt64.self)
        }
    }

    /// Returns the hash that replaces a name in the keys of the file.
    ///
    /// Hashes of names that differ only in their last two bytes begin with the same four bytes, so
    /// that they are neighbours in the index. The objects of a write often have consecutive
    /// numbers; with plain hashes, the write would copy a page of the index for each.
    ///
    /// - Parameter name: The name.
    /// - Returns: Sixteen bytes, always the same for the same name in this file.
    /// - Complexity: 0.4 microseconds for a short name, and as long again for the first name of a
    ///   group.
    package func hash(_ name: [UInt8]) -> [UInt8] {
        let group = name.dropLast(Self.groupTail)
        let slot = group.reduce(0) { ($0 &* 31 &+ Int($1)) & (Self.groupCount - 1) }
        let known = groups.withLock { groups in
            groups[slot].name.elementsEqual(group) ? groups[slot].digest : nil
        }
        guard let known else {
            let new = digest(group, Self.groupSize, of: 0)
            groups.withLock { $0[slot] = (Array(group), new) }
            return new + digest(name[...], Self.nameSize - Self.groupSize, of: 1)
        }
        return known + digest(name[...], Self.nameSize - Self.groupSize, of: 1)
    }

    /// The last bytes of a name that its group leaves out.
    private static let groupTail = 2
    /// The bytes of a hashed name that are the hash of its group.
    private static let groupSize = 4
    /// The number of groups whose hashes are kept. A power of two.
    private static let groupCount = 64

    /// Returns the first bytes of the hash of a group, which is `kind` 0, or of a name, 1. The kind
    /// goes in first, so that a name and an equal group have different hashes.
    private func digest(_ bytes: ArraySlice<UInt8>, _ count: Int, of kind: UInt8) -> [UInt8] {
        var code = nameCode
        code.update(data: [kind])
        code.update(data: bytes)
        return unsafe code.finalize().withUnsafeBytes { unsafe [UInt8]($0.prefix(count)) }
    }
}
#else
/// Without the trait `Encryption` no code makes a sealer. The type exists so that its callers
/// compile without conditions.
package final class Sealer: Sendable {
    private init() {}

    /// Not available: the trait `Encryption` is off.
    package func withSealed<R, E: Error>(
        _ value: RawSpan, in keyspace: UInt8, key: RawSpan, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        preconditionFailure()
    }

    /// Not available: the trait `Encryption` is off.
    package func open(_ sealed: RawSpan, in keyspace: UInt8, key: RawSpan) -> [UInt8]? {
        preconditionFailure()
    }

    /// Not available: the trait `Encryption` is off.
    package func code(of value: RawSpan, in keyspace: UInt8, key: RawSpan) -> UInt64 {
        preconditionFailure()
    }

    /// Not available: the trait `Encryption` is off.
    package func hash(_ name: [UInt8]) -> [UInt8] { preconditionFailure() }
}
#endif

extension Sealer {
    /// The bytes by which a sealed value is longer than its content.
    package static let overhead = 28
    /// The bytes by which an authenticated value is longer than its content.
    package static let codeSize = 8
    /// The bytes of a hashed name.
    package static let nameSize = 16
}
