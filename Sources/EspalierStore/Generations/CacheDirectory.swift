import EspalierLMDB
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The directory of a cache and the files beside its generations.
///
///     guard            never deleted; the lock around every open and switch, and the counter of generations
///     current          the name of the live generation, replaced by rename
///     <generation>/    data.mdb, lock.mdb
struct CacheDirectory: Sendable {
    let path: String

    private static let current = "current"

    init(_ path: String) {
        // Absolute, so that a change of the working directory does not lead elsewhere.
        let absolute =
            path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        self.path =
            absolute.count > 1 && absolute.hasSuffix("/") ? String(absolute.dropLast()) : absolute
    }

    /// Device and file number: the same directory under whatever path.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    /// Makes sure that the directory is there and is ours to use.
    func prepare(create: Bool) throws(CacheError) -> Identity {
        var attributes = Self.attributes(path)
        if attributes == nil {
            guard create else { throw CacheError(.noCache, "There is no cache at this path.") }
            try makeDirectory(path)
            attributes = Self.attributes(path)
        }
        switch attributes?[.type] as? FileAttributeType {
        case .typeDirectory: break
        case .typeSymbolicLink:
            throw CacheError(
                .badDirectory, "The path is a symbolic link. Name the directory it leads to.")
        default: throw CacheError(.badDirectory, "The path is not a directory.")
        }
        if let owner = attributes?[.ownerAccountID] as? NSNumber, owner.uint32Value != geteuid() {
            throw CacheError(.badDirectory, "The directory belongs to another user.")
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw CacheError(
                .notWritable, "The directory can't be written. Check its mode and the file system.")
        }
        guard let device = attributes?[.systemNumber] as? NSNumber,
            let number = attributes?[.systemFileNumber] as? NSNumber
        else { throw CacheError(.badDirectory, "The file system does not number its files.") }
        return Identity(device: device.uint64Value, number: number.uint64Value)
    }

    /// What the file system says of the path itself, a symbolic link included.
    private static func attributes(_ path: String) -> [FileAttributeKey: Any]? {
        try? FileManager.default.attributesOfItem(atPath: path)
    }

    private func makeDirectory(_ path: String) throws(CacheError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        } catch {
            // Another process may have made it meanwhile.
            guard Self.attributes(path) == nil else { return }
            throw Self.failed("The directory can't be made", error)
        }
    }

    var guardPath: String { "\(path)/guard" }

    /// Whether there is a cache in the directory.
    var holdsCache: Bool {
        Self.attributes("\(path)/\(Self.current)") != nil || !generations().isEmpty
    }

    func generationPath(_ name: String) -> String { "\(path)/\(name)" }

    /// The name of the live generation; nil where there is none. What `current` says, if it names a
    /// generation that is there; else, because a process may have been killed in between, the only
    /// generation there is.
    ///
    /// Throws where `current` is there and can't be read: what can't be seen must not be taken for
    /// gone.
    func currentGeneration() throws(CacheError) -> String? {
        let file = "\(path)/\(Self.current)"
        if Self.attributes(file) != nil {
            let data: Data
            do {
                data = try Data(contentsOf: URL(fileURLWithPath: file))
            } catch {
                throw Self.failed("The name of the generation can't be read", error)
            }
            let name = String(decoding: data.prefix(64), as: UTF8.self).trimmingCharacters(
                in: .whitespacesAndNewlines)
            if isGeneration(name) { return name }
        }
        let found = generations()
        return found.count == 1 ? found[0] : nil
    }

    func generations() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter {
            isGeneration($0)
        }
    }

    /// Whether `name` is a directory of this library's making: nothing else is ever opened or
    /// removed.
    private func isGeneration(_ name: String, prefix: String = "g-") -> Bool {
        let digits = name.dropFirst(prefix.count)
        guard name.hasPrefix(prefix), (1...16).contains(digits.count),
            digits.allSatisfy({ $0.isASCII && $0.isHexDigit && !$0.isUppercase }),
            Self.attributes(generationPath(name))?[.type] as? FileAttributeType == .typeDirectory,
            let files = try? FileManager.default.contentsOfDirectory(atPath: generationPath(name))
        else { return false }
        return files.allSatisfy { $0 == "data.mdb" || $0 == "lock.mdb" }
    }

    /// Whether the generation has a file with something in it.
    func hasData(_ name: String) -> Bool {
        let size = Self.attributes(generationPath(name) + "/data.mdb")?[.size] as? NSNumber
        return (size?.intValue ?? 0) > 0
    }

    func makeGeneration() throws(CacheError) -> String {
        let name = "g-" + String(UInt64.random(in: .min ... .max), radix: 16)
        try makeDirectory(generationPath(name))
        return name
    }

    /// A place for a generation that is still being filled: nobody takes it for one.
    func makeUnfinished() throws(CacheError) -> String {
        let name = Self.unfinished + String(UInt64.random(in: .min ... .max), radix: 16)
        try makeDirectory(generationPath(name))
        return name
    }

    private static let unfinished = "new-"

    /// It is complete. Returns its name as a generation.
    func finish(_ unfinished: String) throws(CacheError) -> String {
        let name = "g-" + unfinished.dropFirst(Self.unfinished.count)
        do {
            try FileManager.default.moveItem(
                atPath: generationPath(unfinished), toPath: generationPath(name))
        } catch {
            throw Self.failed("The generation can't be named", error)
        }
        return name
    }

    /// Makes `name` the live generation. The rename is the switch.
    func setCurrent(_ name: String) throws(CacheError) {
        let file = "\(path)/\(Self.current)"
        do {
            try Data((name + "\n").utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        } catch {
            throw Self.failed("The generation can't be switched", error)
        }
    }

    /// Removes all generations but `kept`; what can't be removed now goes at the next open.
    func removeGenerations(except kept: String?) {
        for name in generations() where name != kept { removeGeneration(name) }
        // What a process left that was killed while it filled one.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names
        where name.hasPrefix(Self.unfinished) && isGeneration(name, prefix: Self.unfinished) {
            removeGeneration(name)
        }
        // What Foundation left that was killed while it wrote `current`.
        for name in names where name.hasPrefix(".dat.nosync") { removeGeneration(name) }
    }

    /// Makes `current` name the live generation, if it was found without.
    func nameCurrent(_ name: String) throws(CacheError) {
        let data = try? Data(contentsOf: URL(fileURLWithPath: "\(path)/\(Self.current)"))
        if data != Data((name + "\n").utf8) { try setCurrent(name) }
    }

    func removeGeneration(_ name: String) {
        try? FileManager.default.removeItem(atPath: generationPath(name))
    }

    /// Bytes of all files.
    func byteCount() -> Int {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return paths.reduce(0) { sum, name in
            let attributes = Self.attributes("\(path)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    private static func failed(_ what: String, _ error: any Error) -> CacheError {
        switch (error as? CocoaError)?.code {
        case .fileWriteNoPermission, .fileWriteVolumeReadOnly, .fileReadNoPermission:
            CacheError(
                .notWritable, "\(what): no permission. Check the directory's owner and mode.")
        case .fileWriteOutOfSpace:
            CacheError(.diskFull, "\(what): the disk is full. Free some space.")
        case .fileNoSuchFile, .fileReadNoSuchFile:
            CacheError(.badDirectory, "\(what): the directory around it is missing. Make it first.")
        default:
            CacheError(.badDirectory, "\(what): \(error.localizedDescription)")
        }
    }
}
