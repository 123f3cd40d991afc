package import EspalierEncryption

/// How the values of an environment are encrypted. Environments without it store plain values.
///
/// ```swift
/// environment.protect(
///     with: ValueProtection(sealer, environment) { name in
///         name == "plain" ? .none : .sealed(except: [])
///     })
/// ```
///
/// No other code encrypts or decrypts values. Transactions, cursors and readers call it with every
/// value that they store or find, so that the code above them sees no sealed value. A value that
/// does not open is lent as an empty one, which every reader of a format takes for damage.
///
/// Keys are stored as they are: callers that use a name as a key hash it first, with the sealer.
package final class ValueProtection: Sendable {
    /// What is done to the values of a keyspace.
    package enum Mode: Sendable, Hashable {
        /// The values are stored as they are.
        case none
        /// The values are readable. A code follows each value and binds it to its entry.
        case authenticated
        /// The values are encrypted, except those under the given keys.
        case sealed(except: [[UInt8]])
    }

    // immutable
    /// The sealer of the file.
    package let sealer: Sealer
    /// By LMDB's number of the keyspace.
    private let modes: [Mode]
    /// The numbers of keyspaces that tags and codes cover: the place of each name in the list with
    /// which the environment was opened. The list must never change. By LMDB's number.
    private let numbers: [UInt8]
    private let opened = OpenedValues()

    /// Makes the protection of an environment.
    ///
    /// - Parameters:
    ///   - sealer: The sealer of the file.
    ///   - environment: The environment. A keyspace is identified by its place in the list with
    ///     which it was opened.
    ///   - mode: Returns what is done to the values of a keyspace, by its name.
    package init(_ sealer: Sealer, _ environment: Environment, mode: (String) -> Mode) {
        self.sealer = sealer
        let keyspaces = environment.handle.keyspaces
        let count = Int(keyspaces.map(\.index).max() ?? 0) + 1
        var modes = [Mode](repeating: .none, count: count)
        var numbers = [UInt8](repeating: 0, count: count)
        for (number, keyspace) in keyspaces.enumerated() {
            modes[Int(keyspace.index)] = mode(keyspace.name)
            numbers[Int(keyspace.index)] = UInt8(number)
        }
        self.modes = modes
        self.numbers = numbers
    }

    private func mode(_ keyspace: UInt32, _ key: RawSpan) -> Mode {
        guard keyspace < modes.count else { return .none }
        let mode = modes[Int(keyspace)]
        if case .sealed(let plain) = mode, !plain.isEmpty {
            let bytes = unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
            if plain.contains(bytes) { return .none }
        }
        return mode
    }

    /// Calls `body` with a value as it is stored under a key.
    func withStored<R>(
        _ value: RawSpan, in keyspace: UInt32, key: RawSpan,
        _ body: (RawSpan) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        switch mode(keyspace, key) {
        case .none: return try body(value)
        case .authenticated:
            var bytes = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
            let code = sealer.code(of: value, in: numbers[Int(keyspace)], key: key)
            unsafe withUnsafeBytes(of: code) { unsafe bytes.append(contentsOf: $0) }
            return try body(unsafe bytes.span.bytes)
        case .sealed:
            let number = numbers[Int(keyspace)]
            return try sealer.withSealed(value, in: number, key: key) {
                (sealed) throws(LMDBError) -> R in
                opened.insert(value, sealedAs: sealed, number, key)
                return try body(sealed)
            }
        }
    }

    /// Returns the content of a stored value; no bytes if the value does not open.
    ///
    /// - Parameter remembers: Whether a further look-up of the value is probable. A walk of the
    ///   whole keyspace would displace the values that reads look up.
    /// - Returns: `nil` if the keyspace or the key is stored without protection.
    func opened(
        _ stored: UnsafeRawBufferPointer, in keyspace: UInt32, key: RawSpan,
        remembers: Bool = true
    ) -> [UInt8]? {
        switch mode(keyspace, key) {
        case .none: return nil
        case .authenticated:
            let size = stored.count - Sealer.codeSize
            guard size >= 0 else { return [] }
            let value = unsafe UnsafeRawBufferPointer(rebasing: stored[..<size])
            let code = unsafe stored.loadUnaligned(fromByteOffset: size, as: UInt64.self)
            let expected = sealer.code(
                of: unsafe RawSpan(_unsafeBytes: value), in: numbers[Int(keyspace)], key: key)
            // One comparison of whole words, which takes the same time for every code.
            return unsafe code == expected ? [UInt8](value) : []
        case .sealed:
            let number = numbers[Int(keyspace)]
            guard let seal = unsafe OpenedValues.Seal(stored, number, key) else {
                return sealer.open(unsafe RawSpan(_unsafeBytes: stored), in: number, key: key) ?? []
            }
            if let value = opened.value(seal) { return value }
            let value = sealer.open(unsafe RawSpan(_unsafeBytes: stored), in: number, key: key)
            if let value, remembers { opened.insert(value, seal) }
            return value ?? []
        }
    }

    /// The most bytes by which a stored value is longer than its content.
    var overhead: Int { Sealer.overhead }
}
