extension ConsistencyManager {
    /// Forgets listeners that are gone. Done by itself every `garbageCollectionInterval` seconds.
    public func cleanMemory() {
        submit { manager in
            await manager.worker.remove(manager.board.dropDead())
        }
    }

    /// Forgets all listeners, and drops what was submitted and not delivered yet. `completion` is called on the main actor when
    /// nothing of it can come any more. Listeners of everything stay.
    @preconcurrency @MainActor
    public func clearListenersAndCancelAllTasks(_ completion: (@MainActor @Sendable () -> Void)? = nil) {
        board.clear()
        submit { manager in
            await manager.worker.removeAll()
            if let completion { await completion() }
        }
    }

    /// Hears of every change, in addition to what the listeners hear. Weak.
    @preconcurrency @MainActor
    public func addModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener) {
        board.add(updatesListener)
    }

    @preconcurrency @MainActor
    public func removeModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener) {
        board.remove(updatesListener)
    }

    /// What is shown is asked for at `fetch`, and will come late: changes since are kept until `endFetch`.
    package func beginFetch(_ fetch: ChangeTime) { submit { await $0.worker.begin(fetch) } }
    package func endFetch(_ fetch: ChangeTime) { submit { await $0.worker.end(fetch) } }

    @MainActor
    func scheduleCleaning() {
        let interval = board.cleaningInterval
        board.cleaning?.cancel()
        guard interval > 0 else { return board.cleaning = nil }
        board.cleaning = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(interval))) != nil {
                guard let self else { return }
                cleanMemory()
            }
        }
    }
}
