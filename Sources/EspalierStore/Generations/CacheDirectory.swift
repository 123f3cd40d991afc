import EspalierLMDB
import EspalierRecords
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The directory of a cache, and the files beside its generations.
///
/// `docs/FORMAT.md`, *The directory*, says what each of them is for.
package struct CacheDirectory: Sendable {
    let path: String

    private static let current = "current"

    init(_ path: String) {
        // Absolute, so that a change of the working directory changes nothing.
        let absolute =
            path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        self.path =
            absolute.count > 1 && absolute.hasSuffix("/") ? String(absolute.dropLast()) : absolute
    }

    /// Creates the directory if it is missing and `create` allows it, and checks that this user
    /// owns it and can write it, or may read it if it is only read.
    func prepare(create: Bool, isReadOnly: Bool = false) throws(CacheError) -> FileIdentity {
        var status = FileStatus(path: path)
        if status == nil {
            guard create else { throw .noCache }
            try makeDirectory(path)
            status = FileStatus(path: path)
        }
        switch status?.kind {
        case .directory: break
        case .symbolicLink:
            throw CacheError(
                .badDirectory, "The path is a symbolic link. Name the directory it leads to.")
        default: throw CacheError(.badDirectory, "The path is not a directory.")
        }
        try requireOwner(status, "The directory", isReadOnly: isReadOnly)
        guard isReadOnly || FileManager.default.isWritableFile(atPath: path) else {
            throw CacheError(
                .notWritable, "The directory can't be written. Check its mode and the file system.")
        }
        guard let identity = status?.identity else { throw .noCache }
        return identity
    }

    /// Throws if there are files in the directory, and none of a cache. A cache owns its directory:
    /// it takes the access from other users, and its budget counts all files.
    ///
    /// Hidden files and `lost+found` do not count: systems make them by themselves.
    func requireNoOtherFiles() throws(CacheError) {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { !$0.hasPrefix(".") && $0 != "lost+found" }
        guard names.isEmpty || names.contains(where: Self.isOfCache) else {
            throw CacheError(
                .badDirectory,
                "The directory holds other files and no cache. Name a new or empty directory.")
        }
    }

    /// Whether a cache gives a file this name.
    private static func isOfCache(_ name: String) -> Bool {
        ["guard", current, ChangeListeners.fileName].contains(name)
            || isName(name, prefix: complete) || isName(name, prefix: unfinished)
            || isName(name, prefix: outbox)
    }

    /// Throws unless this user owns what has the status.
    ///
    /// The superuser is no exception in writing: the files that it would leave in the directory of
    /// another user would lock that user out. It may read. Everybody may read what the superuser
    /// owns, who could change everything anyway.
    private func requireOwner(
        _ status: FileStatus?, _ what: String, isReadOnly: Bool
    ) throws(CacheError) {
        guard let owner = status?.owner else { return }
        let isTrusted = owner == geteuid() || isReadOnly && (owner == 0 || geteuid() == 0)
        guard isTrusted else {
            throw CacheError(
                .badDirectory,
                """
                \(what) belongs to another user. Open the cache as that user, or in a directory of \
                your own.
                """)
        }
    }

    /// Makes the directory and the files of the cache accessible to this user alone, and returns
    /// the names of those that others could access. If nothing may change, only checks that others
    /// can't write.
    ///
    /// - Throws: `badDirectory` if a file belongs to another user, or if others can write what is
    ///   only read; `notWritable` if a mode can't be changed.
    func restrictAccess(isReadOnly: Bool) throws(CacheError) -> [String] {
        var restricted: [String] = []
        var names = [".", "guard", ChangeListeners.fileName, Self.current]
        for generation in generations() {
            names += [generation, "\(generation)/data.mdb", "\(generation)/lock.mdb"]
        }
        for name in names {
            let file = name == "." ? path : "\(path)/\(name)"
            // Opening refuses links and devices.
            guard let status = FileStatus(path: file),
                status.kind == .file || status.kind == .directory
            else { continue }
            try requireOwner(status, "A file in the directory", isReadOnly: isReadOnly)
            let mode = status.permissions
            if isReadOnly {
                // On a read-only file system no user can write, whatever the modes say.
                guard mode & 0o022 == 0 || !FileManager.default.isWritableFile(atPath: file) else {
                    throw CacheError(
                        .badDirectory,
                        """
                        Other users can write the directory or a file in it. Open the cache to \
                        write once, which changes the modes.
                        """)
                }
            } else if mode & 0o077 != 0 {
                do {
                    try FileManager.default.setAttributes(
                        [.posixPermissions: mode & 0o700], ofItemAtPath: file)
                } catch {
                    throw Self.error("The mode of a file can't be changed", error)
                }
                // A process that is switching has just made `current` by renaming another file.
                if name != Self.current { restricted.append(name) }
            }
        }
        return restricted
    }

    private func makeDirectory(_ path: String) throws(CacheError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        } catch {
            // Another process may have created it meanwhile.
            guard FileStatus(path: path) == nil else { return }
            throw Self.error("The directory can't be created", error)
        }
    }

    var guardPath: String { "\(path)/guard" }

    /// Takes the lock of those who send the operations of an outbox; nil if another one has it.
    func outboxLock(_ outbox: String) throws(LMDBError) -> LockedFile? {
        var writer = ByteWriter()
        writer.append(string: outbox)
        let number = UInt64(writer.check(seed: 0))
        return try LockedFile(Self.outbox + String(number, radix: 16), in: path, creates: true)
    }

    /// Whether the directory contains a cache.
    var holdsCache: Bool {
        FileStatus(path: "\(path)/\(Self.current)") != nil || !generations().isEmpty
    }

    func generationPath(_ name: String) -> String { "\(path)/\(name)" }

    /// What the directory says about the live generation.
    enum Live: Equatable {
        /// There is no generation: nothing has been stored yet.
        case none
        case generation(String)
        /// There is one that can't be told from others or can't be read, and why.
        case lost(GenerationHolder.Replacement)
    }

    /// Returns the live generation.
    ///
    /// That is the generation that `current` names, if it exists. Otherwise it is the only
    /// generation, because a process may have been killed before it wrote `current`.
    ///
    /// - Throws: If `current` exists and can't be read: the live generation must not be taken for
    ///   missing.
    func liveGeneration() throws(CacheError) -> Live {
        let file = "\(path)/\(Self.current)"
        if FileStatus(path: file) != nil {
            let data: Data
            do {
                data = try Data(contentsOf: URL(fileURLWithPath: file))
            } catch {
                throw Self.error("The name of the generation can't be read", error)
            }
            let name = String(decoding: data.prefix(64), as: UTF8.self).trimmingCharacters(
                in: .whitespacesAndNewlines)
            makeAccessible(name)
            if try isReadableGeneration(name) { return .generation(name) }
        }
        let names = try Self.names(in: path) ?? []
        var found: [String] = []
        for name in names where try isReadableGeneration(name) { found.append(name) }
        if found.count == 1 { return .generation(found[0]) }
        if found.count > 1 { return .lost(.unnamed) }
        // A directory that this user can't read, or one with files of others only.
        let isUnreadable = names.contains { Self.isName($0, prefix: Self.complete) }
        return isUnreadable ? .lost(.unreadable) : .none
    }

    /// Restores the mode of a generation's directory if this user has lost the access to it.
    private func makeAccessible(_ name: String) {
        guard Self.isName(name, prefix: Self.complete),
            let status = FileStatus(path: generationPath(name)), status.kind == .directory,
            status.permissions & 0o700 != 0o700
        else { return }
        try? FileManager.default.setAttributes(
            [.posixPermissions: status.permissions | 0o700], ofItemAtPath: generationPath(name))
    }

    package func generations() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter {
            isGeneration($0)
        }
    }

    /// Returns whether the library has made the directory `name`. It opens no others, and removes
    /// no files of others.
    private func isGeneration(_ name: String, prefix: String = complete) -> Bool {
        (try? isReadableGeneration(name, prefix: prefix)) ?? false
    }

    /// - Throws: If that can't be told now, as with too many open files: a generation must not be
    ///   taken for missing.
    private func isReadableGeneration(
        _ name: String, prefix: String = complete
    ) throws(CacheError) -> Bool {
        guard Self.isName(name, prefix: prefix),
            FileStatus(path: generationPath(name))?.kind == .directory,
            let files = try Self.names(in: generationPath(name))
        else { return false }
        return files.contains(Self.dataFile) || files.allSatisfy { $0 == Self.lockFile }
    }

    /// Returns the names in a directory; nil if it is missing, or if this user may not read it.
    private static func names(in directory: String) throws(CacheError) -> [String]? {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            switch (error as? CocoaError)?.code {
            case .fileReadNoSuchFile, .fileNoSuchFile, .fileReadNoPermission: return nil
            default: throw Self.error("The directory of a cache can't be read", error)
            }
        }
    }

    private static let dataFile = "data.mdb"
    private static let lockFile = "lock.mdb"

    private static func isName(_ name: String, prefix: String) -> Bool {
        let digits = name.dropFirst(prefix.count)
        return name.hasPrefix(prefix) && (1...16).contains(digits.count)
            && digits.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
    }

    /// Returns whether the generation has a data file that is not empty.
    func hasData(_ name: String) -> Bool {
        (FileStatus(path: generationPath(name) + "/data.mdb")?.size ?? 0) > 0
    }

    /// Creates an empty generation and returns its name.
    func makeGeneration() throws(CacheError) -> String {
        let name = Self.complete + String(UInt64.random(in: .min ... .max), radix: 16)
        try makeDirectory(generationPath(name))
        return name
    }

    /// Creates the directory of a generation that is being filled and that no process opens, and
    /// returns its name.
    func makeUnfinished() throws(CacheError) -> String {
        let name = Self.unfinished + String(UInt64.random(in: .min ... .max), radix: 16)
        try makeDirectory(generationPath(name))
        return name
    }

    private static let complete = "g-"
    private static let unfinished = "new-"
    private static let outbox = "outbox-"

    /// Turns a generation that was filled into a complete one, and returns its new name.
    func finish(_ unfinished: String) throws(CacheError) -> String {
        let name = Self.complete + unfinished.dropFirst(Self.unfinished.count)
        do {
            try FileManager.default.moveItem(
                atPath: generationPath(unfinished), toPath: generationPath(name))
        } catch {
            throw Self.error("The generation can't be renamed", error)
        }
        return name
    }

    /// Makes `name` the live generation, by an atomic rename.
    func setCurrent(_ name: String) throws(CacheError) {
        let file = "\(path)/\(Self.current)"
        do {
            try Data((name + "\n").utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        } catch {
            throw Self.error("The generation can't be switched", error)
        }
    }

    /// Removes all generations except `kept`. The next open removes those that can't be removed
    /// now.
    ///
    /// - Parameter known: One of them, which is removed even if the directory can't be listed.
    func removeGenerations(except kept: String?, and known: String? = nil) {
        if let known { removeGeneration(known) }
        for name in generations() where name != kept { removeGeneration(name) }
        removeUnfinished()
    }

    /// Removes what a process was filling or writing when it was killed. The caller holds the
    /// guard's lock.
    func removeUnfinished() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names
        where name.hasPrefix(Self.unfinished) && isGeneration(name, prefix: Self.unfinished) {
            removeGeneration(name)
        }
        // Files that Foundation was writing in place of `current` when the process was killed.
        for name in names where name.hasPrefix(".dat.nosync") {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    /// Writes the name of the live generation to `current` if it is not there.
    func nameCurrent(_ name: String) throws(CacheError) {
        let data = try? Data(contentsOf: URL(fileURLWithPath: "\(path)/\(Self.current)"))
        if data != Data((name + "\n").utf8) { try setCurrent(name) }
    }

    /// Removes the files of a generation, and its directory unless others have put files there.
    ///
    /// Renames the directory to `new-...` first, unless it holds other files. No process opens such
    /// a directory, and the next switch removes it. Otherwise a process that is killed between the
    /// two removals would leave a data file without the lock file that others still use.
    func removeGeneration(_ name: String) {
        var directory = generationPath(name)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        if name.hasPrefix(Self.complete),
            files.allSatisfy({ [Self.lockFile, Self.dataFile].contains($0) })
        {
            let retired = generationPath(Self.unfinished + name.dropFirst(Self.complete.count))
            if FileNames.rename(directory, to: retired) { directory = retired }
        }
        // The data file last: it tells that the directory is one of the library.
        for file in [Self.lockFile, Self.dataFile] {
            try? FileManager.default.removeItem(atPath: "\(directory)/\(file)")
        }
        Self.removeIfEmpty(directory)
    }

    static func removeIfEmpty(_ directory: String) {
        let files = FileManager.default
        guard (try? files.contentsOfDirectory(atPath: directory))?.isEmpty == true else { return }
        try? files.removeItem(atPath: directory)
    }

    /// Returns the bytes of all files that this user can see.
    package func byteCount() -> Int { Self.byteCount(below: path) }

    private static func byteCount(below path: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.reduce(0) { sum, name in
            let status = FileStatus(path: "\(path)/\(name)")
            switch status?.kind {
            case .file: return sum + (status?.size ?? 0)
            case .directory: return sum + byteCount(below: "\(path)/\(name)")
            default: return sum
            }
        }
    }

    /// Returns the error that says that `what` failed because of `error`.
    private static func error(_ what: String, _ error: any Error) -> CacheError {
        switch (error as? CocoaError)?.code {
        case .fileWriteNoPermission, .fileWriteVolumeReadOnly, .fileReadNoPermission:
            CacheError(
                .notWritable, "\(what): no permission. Check the directory's owner and mode.")
        case .fileWriteOutOfSpace:
            CacheError(.diskFull, "\(what): the disk is full. Free some space.")
        case .fileReadUnknown where Self.isDeviceError(error),
            .fileWriteUnknown where Self.isDeviceError(error):
            CacheError(.ioFailure, "\(what): the disk reported an input/output error. Check it.")
        case .fileNoSuchFile, .fileReadNoSuchFile:
            CacheError(
                .badDirectory,
                """
                \(what): its parent directory is missing. Create it first, or name another path; \
                ~ is not expanded.
                """)
        default:
            CacheError(.badDirectory, "\(what): \(error.localizedDescription)")
        }
    }

    private static func isDeviceError(_ error: any Error) -> Bool {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        return cause?.domain == NSPOSIXErrorDomain && cause?.code == Int(EIO)
    }
}
