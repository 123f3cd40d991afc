#if Encryption
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encrypts and authenticates the values of one file, and hashes the names under which they stand.
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
/// Every code also covers the number of the keyspace and the key of the entry: a value that was
/// moved to another entry does not open.
///
/// A nonce is a number of 96 bits that counts up from a random one, which each sealer draws. Two
/// values of a file have the same nonce only if two of its sealers have drawn numbers that lie as
/// close as the number of values that they seal. That is less probable than with random nonces.
///
/// All threads may use a sealer. A forked child must not, because it would repeat its parent's
/// nonces; environments refuse to work in one.
package final class Sealer: Sendable {
    // immutable
    private let valueKey: SymmetricKey
    /// These have taken in their keys already, which saves two thirds of the time of a code.
    private let entryCode: HMAC<SHA256>
    private let nameCode: HMAC<SHA256>
    private let nonceStart: UInt32

    // shared by all threads
    private let nonceCount: Atomic<UInt64>
    /// The groups of names that were hashed last, and the bytes that stand for them.
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
    ///   - body: Stores the sealed value, which is valid until it returns.
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

    /// Calls `body` with the bytes that stand for an entry: the number of its keyspace and its key.
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

    /// Returns the code of a value that is stored readably.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - keyspace: The number of its keyspace.
    ///   - key: The key of its entry.
    /// - Complexity: 0.4 microseconds for a short value. Two allocations.
    package func code(of value: RawSpan, in keyspace: UInt8, key: RawSpan) -> UInt64 {
        var code = entryCode
        unsafe Self.withContext(keyspace, key) { context in
            // Keys of one keyspace that holds authenticated values are all of one length.
            unsafe code.update(data: context)
        }
        unsafe value.withUnsafeBytes { unsafe code.update(data: $0) }
        return unsafe code.finalize().withUnsafeBytes {
            unsafe $0.loadUnaligned(as: UInt64.self)
        }
    }

    /// Returns the key that stands for a name in the file.
    ///
    /// Names that differ in their last two bytes alone stand side by side: the objects of a write
    /// often have consecutive numbers, and as many pages of the index would be copied as there are
    /// objects if they did not.
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
            let new = digest(group, Self.groupSize)
            groups.withLock { $0[slot] = (Array(group), new) }
            return new + digest(name[...], Self.nameSize - Self.groupSize)
        }
        return known + digest(name[...], Self.nameSize - Self.groupSize)
    }

    /// The last bytes of a name that its group leaves out.
    private static let groupTail = 2
    /// The bytes of a key that stand for the group.
    private static let groupSize = 4
    /// The number of groups whose bytes are kept. A power of two.
    private static let groupCount = 64

    private func digest(_ bytes: ArraySlice<UInt8>, _ count: Int) -> [UInt8] {
        var code = nameCode
        code.update(data: bytes)
        return unsafe code.finalize().withUnsafeBytes { unsafe [UInt8]($0.prefix(count)) }
    }
}
#else
/// Without the trait `Encryption` nothing makes a sealer. The type is there, so that the code that
/// calls one needs no conditions.
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
