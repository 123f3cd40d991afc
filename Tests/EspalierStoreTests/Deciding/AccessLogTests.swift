import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Touches that wait for a commit")
struct AccessLogTests {
    private func touch(_ log: AccessLog, _ handles: UInt64..., in generation: String = "a") {
        for handle in handles { _ = log.touch(Handle(handle), in: generation) }
    }

    private func take(_ log: AccessLog, in generation: String = "a") -> [UInt64] {
        log.take(in: generation).handles.map(\.rawValue)
    }

    @Test("are taken once, in the order of the last touch of each")
    func order() {
        let log = AccessLog()
        touch(log, 5, 3, 5, 9, 3, 3, 1)
        #expect(take(log) == [5, 9, 3, 1])
        #expect(take(log) == [])
        touch(log, 9, 5)
        #expect(take(log) == [9, 5])
    }

    @Test(
        "ask for a flush some time later at first, at once when there are many, and otherwise for nothing"
    )
    func demands() {
        let log = AccessLog()
        for _ in 0..<2 {
            #expect(log.touch(Handle(1), in: "a") == .flushLater)
            for handle in 2..<UInt64(AccessLog.flushCount) {
                guard log.touch(Handle(handle), in: "a") == .nothing,
                    log.touch(Handle(1), in: "a") == .nothing
                else {
                    Issue.record("\(handle)")
                    return
                }
            }
            #expect(log.touch(Handle(UInt64(AccessLog.flushCount)), in: "a") == .flushNow)
            #expect(log.touch(Handle(UInt64(AccessLog.flushCount) + 1), in: "a") == .nothing)
            #expect(log.take(in: "a").handles.count == AccessLog.flushCount + 1)
        }
    }

    @Test("are due after a time, at once when there are many, and never when there are none")
    func deadline() throws {
        let log = AccessLog()
        #expect(log.deadline == nil)
        let before = ContinuousClock.now
        touch(log, 1)
        let deadline = try #require(log.deadline)
        #expect(
            deadline >= before + AccessLog.flushDelay && deadline <= .now + AccessLog.flushDelay)
        touch(log, 2)
        #expect(log.deadline == deadline)
        for handle in 0..<UInt64(AccessLog.flushCount) { touch(log, handle) }
        #expect(try #require(log.deadline) <= .now)
        _ = take(log)
        #expect(log.deadline == nil)
    }

    @Test("are put back behind a commit that failed, unless they were touched again meanwhile")
    func putBack() {
        let log = AccessLog()
        touch(log, 1, 2, 3)
        let taken = log.take(in: "a")
        touch(log, 4, 1)
        log.putBack(taken, in: "a")
        #expect(log.deadline != nil)
        #expect(take(log) == [2, 3, 4, 1])
        log.putBack(taken, in: "a")
        touch(log, 2)
        #expect(take(log) == [1, 3, 2])
    }

    @Test("of a generation left behind are dropped")
    func generations() {
        let log = AccessLog()
        touch(log, 1, 2)
        touch(log, 2, 7, in: "b")
        #expect(take(log, in: "b") == [2, 7])
        touch(log, 3, in: "b")
        #expect(take(log) == [])
        #expect(log.deadline == nil)
        touch(log, 1)
        let taken = log.take(in: "a")
        touch(log, 8, in: "b")
        log.putBack(taken, in: "a")
        #expect(take(log, in: "b") == [8])
    }

    @Test("are noted without a limit that anybody meets, and then only again")
    func many() {
        let log = AccessLog()
        for handle in 0..<UInt64(1) << 18 + 100 { touch(log, handle) }
        touch(log, 0)
        let handles = take(log)
        #expect(handles.count == 1 << 18)
        #expect(handles.last == 0)
        #expect(handles.first == 1)
    }

    @Test("of a generation left behind make no flush due in the next")
    func leftBehind() {
        let log = AccessLog()
        touch(log, 1)
        #expect(take(log, in: "b") == [])
        #expect(log.deadline == nil)
        touch(log, 1, in: "b")
        let taken = log.take(in: "b")
        log.putBack(taken, in: "b")
        #expect(take(log, in: "c") == [])
        #expect(log.deadline == nil)
    }
}
