import Foundation

/// The files that a loss of power leaves behind.
///
/// The model is that of a file system with a journal. Changes of names and sizes reach the disk in
/// order, so a part of them from the beginning does; each sync makes all earlier ones reach it.
/// Written bytes reach it in any order, sector by sector, if the file was not synchronised after
/// them. Of the write during which the power fails, any sectors reach it.
struct PowerImage {
    /// The acknowledged writes before the loss, the last one apart if it may be missing.
    private(set) var acknowledged: [Int: Int] = [:]
    private(set) var submitted: [Int: Int] = [:]

    private var contents: [Int: [UInt8]] = [:]
    private var names: [String: Int] = [:]
    private var folders: Set<String> = []
    private var guardFile = Data()

    private static let sector = 512

    /// Which unsynchronised sectors reach the disk.
    private enum Policy: CaseIterable {
        case none, all, half, halfOfPages, most
    }

    /// Makes the image of a loss at a random moment.
    ///
    /// - Parameter mayLoseLast: Whether the last acknowledged write may be missing.
    init(_ log: PowerLog, mayLoseLast: Bool, _ random: inout Random) {
        let entries = log.entries
        let cut = random.below(entries.count + 1)
        let lastSync = entries[..<cut].lastIndex {
            if case .sync = $0.change { true } else { false }
        }
        let leastNames = (lastSync ?? -1) + 1
        // Names and sizes before this index are in the journal.
        let journal = random.happens(0.5) ? cut : leastNames + random.below(cut - leastNames + 1)
        let policy = Policy.allCases[random.below(Policy.allCases.count)]
        let durable = Self.durableWrites(entries[..<cut])
        var live: [String: Int] = [:]
        var count = 0
        for (index, entry) in entries.prefix(min(cut + 1, entries.count)).enumerated() {
            let isJournaled = index < journal
            switch entry.change {
            case .open(let name):
                guard live[name] == nil, index < cut else { continue }
                count += 1
                live[name] = count
                contents[count] = []
                if isJournaled { names[name] = count }
            case .write(let name, let offset, let data, _):
                guard let file = live[name] else { continue }
                if durable.contains(index) {
                    store(data, at: offset, in: file)
                } else {
                    storeSome(data, at: offset, in: file, index < cut ? policy : .half, &random)
                }
            case .resize(let name, let size):
                guard isJournaled, let file = live[name] else { continue }
                let bytes = contents[file] ?? []
                contents[file] =
                    size < bytes.count
                    ? Array(bytes[..<size])
                    : bytes + [UInt8](repeating: 0, count: size - bytes.count)
            case .rename(let from, let to):
                guard index < cut else { continue }
                Self.rename(from, to, in: &live)
                guard isJournaled else { continue }
                Self.rename(from, to, in: &names)
                folders = Set(folders.map { Self.renamed($0, from, to) })
            case .remove(let name):
                guard index < cut else { continue }
                live[name] = nil
                guard isJournaled else { continue }
                names[name] = nil
                folders.remove(name)
            case .folder(let name): if isJournaled { folders.insert(name) }
            case .sync, .submitted, .acknowledged, .flushed: break
            }
        }
        note(entries[..<cut], mayLoseLast: mayLoseLast)
        // The map of the guard file reaches the disk at any time.
        let from = max(0, cut - 1 - random.below(40))
        if cut > 0 { guardFile = entries[random.happens(0.7) ? cut - 1 : from].guardFile }
    }

    /// Returns the indices of the writes that a later sync of the same file covers.
    private static func durableWrites(_ entries: ArraySlice<PowerLog.Entry>) -> Set<Int> {
        var durable: Set<Int> = []
        var pending: [String: [Int]] = [:]
        for (index, entry) in zip(entries.indices, entries) {
            switch entry.change {
            case .write(let name, _, _, let isSynchronous):
                if isSynchronous {
                    durable.insert(index)
                } else {
                    pending[name, default: []].append(index)
                }
            case .sync(let name):
                durable.formUnion(pending[name] ?? [])
                pending[name] = nil
            case .rename(let from, let to):
                for name in pending.keys where renamed(name, from, to) != name {
                    pending[renamed(name, from, to)] = pending.removeValue(forKey: name)
                }
            case .remove(let name): pending[name] = nil
            default: break
            }
        }
        return durable
    }

    private mutating func note(_ entries: ArraySlice<PowerLog.Entry>, mayLoseLast: Bool) {
        // The acknowledged write that may be missing, unless a flush came after it.
        var last: (tree: Int, version: Int)?
        for entry in entries {
            switch entry.change {
            case .submitted(let tree, let version): submitted[tree] = version
            case .acknowledged(let tree, let version):
                if let last { acknowledged[last.tree] = last.version }
                last = (tree, version)
            case .flushed:
                if let last { acknowledged[last.tree] = last.version }
                last = nil
            default: break
            }
        }
        if let last, !mayLoseLast { acknowledged[last.tree] = last.version }
    }

    // MARK: Bytes

    private mutating func store(_ data: Data, at offset: Int, in file: Int) {
        var bytes = contents[file] ?? []
        let end = offset + data.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(offset..<end, with: data)
        contents[file] = bytes
    }

    private mutating func storeSome(
        _ data: Data, at offset: Int, in file: Int, _ policy: Policy, _ random: inout Random
    ) {
        guard policy != .none else { return }
        if policy == .all { return store(data, at: offset, in: file) }
        let unit = policy == .halfOfPages ? 4_096 : Self.sector
        var start = offset
        while start < offset + data.count {
            let end = min((start / unit + 1) * unit, offset + data.count)
            if random.happens(policy == .most ? 0.95 : 0.5) {
                let slice = data[data.startIndex + start - offset..<data.startIndex + end - offset]
                store(slice, at: start, in: file)
            }
            start = end
        }
    }

    // MARK: Names

    private static func rename(_ from: String, _ to: String, in names: inout [String: Int]) {
        names = Dictionary(
            names.filter { $0.key != to }.map { (renamed($0.key, from, to), $0.value) },
            uniquingKeysWith: { _, last in last })
    }

    /// Returns the new path of a file that is renamed, or is below a directory that is.
    private static func renamed(_ name: String, _ from: String, _ to: String) -> String {
        if name == from { return to }
        return name.hasPrefix(from + "/") ? to + name.dropFirst(from.count) : name
    }

    // MARK: Files

    /// Writes the image into a directory.
    func write(to directory: String) throws {
        Files.remove(directory)
        try Files.makeDirectory(directory)
        for folder in folders.sorted() where folder != "." {
            try Files.makeDirectory("\(directory)/\(folder)")
        }
        for (name, file) in names {
            let path = "\(directory)/\(name)"
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            guard Files.exists("/" + folder) else { continue }
            let bytes = name == "guard" ? guardFile : Data(contents[file] ?? [])
            try Files.write(bytes, to: path)
            chmod(path, 0o600)
        }
    }
}
