import Dispatch
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierLMDB

@Suite("The processes that listen for commits")
struct ChangeListenersTests {
    private func isSet(_ guardFile: GuardFile) -> Bool { guardFile[.listeners] & 1 == 1 }

    @Test("Nobody hears a process that is the only one to listen")
    func own() throws {
        let scratch = try Scratch()
        let file = scratch.guardFile
        let listeners = ChangeListeners(file)
        #expect(!listeners.look().isHeard && !isSet(file))
        try listeners.begin()
        #expect(isSet(file) && !listeners.look().isHeard)
        #expect(isSet(file))
        listeners.end()
        #expect(!isSet(file))
        listeners.close()
    }

    @Test("A listener of another process is heard until it is killed, and leaves no cost")
    func killed() throws {
        guard Fork.isAvailable else { return }
        let scratch = try Scratch()
        let file = scratch.guardFile
        let listeners = ChangeListeners(file)
        let path = scratch.root + "/guard"
        let before = listeners.look()
        let child = Fork.start {
            guard let file = try? GuardFile(path: path, create: false) else { return 1 }
            let listeners = ChangeListeners(file)
            guard (try? listeners.begin()) != nil else { return 2 }
            raise(SIGSTOP)
            return withExtendedLifetime(listeners) { 0 }
        }
        Fork.waitUntilStopped(child)
        #expect(listeners.look().isHeard && listeners.hasGrown(since: before))
        #expect(!listeners.hasGrown(since: listeners.look()))
        kill(child, SIGKILL)
        _ = Fork.wait(for: child)
        #expect(isSet(file) && !listeners.look().isHeard)
        #expect(!isSet(file))
        listeners.close()
    }

    @Test("A link in the place of the file is refused")
    func link() throws {
        let scratch = try Scratch()
        let file = scratch.guardFile
        let path = scratch.root + "/" + ChangeListeners.fileName
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "guard")
        let listeners = ChangeListeners(file)
        #expect(throws: LMDBError.self) { try listeners.begin() }
        #expect(!isSet(file))
    }

    @Test("An announcement wakes a watch, and so does the end of a process with the file open")
    func watch() throws {
        let scratch = try Scratch()
        let file = scratch.guardFile
        let listeners = ChangeListeners(file)
        let events = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "watch")
        let watch = CommitWatch(listeners, queue) { events.signal() }
        #expect(!watch.isPolling)
        listeners.announce()
        events.wait()
        #if os(Linux)
        let path = scratch.root + "/guard"
        let child = Fork.start {
            guard let file = try? GuardFile(path: path, create: false) else { return 1 }
            raise(SIGSTOP)
            return withExtendedLifetime(file) { 0 }
        }
        Fork.waitUntilStopped(child)
        queue.sync {}
        while events.wait(timeout: .now()) == .success {}
        kill(child, SIGKILL)
        _ = Fork.wait(for: child)
        events.wait()
        #endif
        watch.cancel()
    }

    @Test("A watch that polls calls its closure again and again")
    func polling() throws {
        let scratch = try Scratch()
        let events = DispatchSemaphore(value: 0)
        let watch = CommitWatch(
            ChangeListeners(scratch.guardFile), onlyPolls: true, DispatchQueue(label: "watch")
        ) { events.signal() }
        #expect(watch.isPolling)
        for _ in 0..<3 { events.wait() }
        watch.cancel()
    }
}
