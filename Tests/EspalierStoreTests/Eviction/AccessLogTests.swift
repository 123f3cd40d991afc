import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("The access log")
struct AccessLogTests {
    private func touch(_ log: AccessLog, _ handles: UInt64..., in generation: String = "a") {
        for handle in handles { _ = log.touch(Handle(handle), in: generation) }
    }

    private func take(_ log: AccessLog, in generation: String = "a") -> [UInt64] {
        log.take(in: generation).handles.map(\.rawValue)
    }

    @Test("Touches are taken once, in the order of the last touch of each record")
    func order() {
        let log = AccessLog()
        touch(log, 5, 3, 5, 9, 3, 3, 1)
        #expect(take(log) == [5, 9, 3, 1])
        #expect(take(log) == [])
        touch(log, 9, 5)
        #expect(take(log) == [9, 5])
    }

    @Test("The first touch demands a flush later, and one of many touches demands a flush now")
    func demands() throws {
        let log = AccessLog()
        for _ in 0..<2 {
            let first = log.touch(Handle(1), in: "a")
            #expect(first == .flushLater(by: try #require(log.deadline)))
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

    @Test("Touches are due to be flushed after a delay, and at once when there are many")
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

    @Test("Touches that a failed commit took are put back behind later touches of the same records")
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

    @Test("Touches that are due wait for the whole delay again after a commit has failed")
    func postponed() throws {
        let log = AccessLog()
        log.postpone()
        #expect(log.deadline == nil)
        for handle in 1...UInt64(AccessLog.flushCount) { touch(log, handle) }
        #expect(try #require(log.deadline) <= .now)
        log.postpone()
        #expect(try #require(log.deadline) > .now)
        #expect(take(log).count == AccessLog.flushCount)
    }

    @Test("Touches of a generation that is not live any more are dropped")
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

    @Test("Beyond a limit of 262,144 records only touches of recorded records are recorded")
    func many() {
        let log = AccessLog()
        for handle in 0..<UInt64(1) << 18 + 100 { touch(log, handle) }
        touch(log, 0)
        let handles = take(log)
        #expect(handles.count == 1 << 18)
        #expect(handles.last == 0)
        #expect(handles.first == 1)
    }

    @Test("Touches of an earlier generation make no flush due in the next one")
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
