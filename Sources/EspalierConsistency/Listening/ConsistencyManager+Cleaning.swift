import Synchronization

extension ConsistencyManager {
    func removeDead() {
        submit { manager in
            await manager.worker.remove(manager.board.dropDead())
        }
    }

    /// Gives back at once what a listener took that is gone: to be called from its `deinit`,
    /// wherever that runs, with its address alone. Another object that has got the address, and
    /// listens, is left alone.
    package func forget(_ identity: ObjectIdentifier) {
        submit { manager in
            let dead = await manager.board.dropDead(at: identity)
            if !dead.isEmpty { await manager.worker.remove(dead) }
        }
    }

    @MainActor
    func clear(_ completion: (@MainActor @Sendable () -> Void)?) {
        board.clear()
        submit { manager in
            await manager.worker.removeAll()
            if let completion { await completion() }
        }
    }

    /// How often all listeners were forgotten. Whoever listened, or was paused, when it was another
    /// number has to be added, or paused, again.
    package var clearings: Int { board.era.load(ordering: .relaxed) }

    /// What is shown is asked for at `fetch`, and will come late: changes since are kept until
    /// `endFetch`.
    package func beginFetch(_ fetch: ChangeTime) { submit { await $0.worker.begin(fetch) } }
    package func endFetch(_ fetch: ChangeTime) { submit { await $0.worker.end(fetch) } }

    /// 30 years, which is never.
    private static let longestInterval: Double = 1e9

    @MainActor
    func scheduleCleaning() {
        let interval = board.cleaningInterval
        board.cleaning?.cancel()
        // A `Duration` holds no more than a clock does; nothing that is not a number, either.
        guard interval > 0, interval <= Self.longestInterval else { return board.cleaning = nil }
        board.cleaning = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(interval))) != nil {
                guard let self else { return }
                cleanMemory()
            }
        }
    }
}
