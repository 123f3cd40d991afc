import Foundation

/// What a later process has to know to go on with the copies of this one: the file
/// `fleet-position` beside the near cache, which says up to which commit of each server the copies
/// are current. Without it the later process begins without copies.
///
/// One host at a time uses a near cache: a copy that one host restores may be one that another host
/// knows to be outdated. The file `fleet-lock` is locked as long as the object lives.
final class NearFile: Sendable {
    struct Position: Codable {
        struct Server: Codable {
            var name: String
            var runIdentifier: String
            var processed: UInt64
        }
        var servers: [Server]
    }

    private let url: URL
    private let lock: Int32

    /// Locks the near cache.
    ///
    /// - Throws: `FleetError.nearInUse` if another host uses it, or if the lock can't be made.
    init(directory: String) throws(FleetError) {
        url = URL(fileURLWithPath: "\(directory)/fleet-position")
        lock = unsafe open("\(directory)/fleet-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            if lock >= 0 { Foundation.close(lock) }
            throw .nearInUse(directory: directory)
        }
    }

    deinit { Foundation.close(lock) }

    /// Lets another host use the near cache.
    func unlock() { flock(lock, LOCK_UN) }

    /// Saves a position, or removes that of before.
    func update(_ position: Position?) {
        if let position { save(position) } else { remove() }
    }

    private func save(_ position: Position) {
        guard let data = try? JSONEncoder().encode(position) else { return }
        // Under a name of its own: the near cache deletes the files that Foundation makes for an
        // atomic write, because a process that was killed leaves them behind.
        let new = url.appendingPathExtension("new")
        guard (try? data.write(to: new)) != nil else { return }
        if unsafe rename(new.path, url.path) != 0 { try? FileManager.default.removeItem(at: new) }
    }

    /// Returns the position of these servers; nil if it is not known.
    func load(_ names: [String]) -> Position? {
        guard let data = try? Data(contentsOf: url),
            let position = try? JSONDecoder().decode(Position.self, from: data),
            position.servers.map(\.name) == names
        else { return nil }
        return position
    }

    /// Makes a later process begin without copies.
    func remove() { try? FileManager.default.removeItem(at: url) }
}
