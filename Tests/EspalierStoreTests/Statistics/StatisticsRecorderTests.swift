import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("A recorder counts everything once")
struct StatisticsRecorderTests {
    @Test("A recorder counts every kind of event in its own counter")
    func counting() {
        let recorder = StatisticsRecorder()
        recorder.countHit(took: 5_000)
        recorder.countMiss(.notFound, of: "Message", took: 7_000)
        recorder.countMiss(
            .undecodable(path: "a.b", detail: "c"), of: "Message", took: 7_000)
        recorder.countMiss(.unavailable(detail: "closed"), of: "Message", took: nil)
        recorder.countCommit(took: .milliseconds(2))
        recorder.countDropped(reason: "queueFull")
        recorder.countReplaced(reason: "damaged")
        recorder.countMapFull()
        recorder.countCycleCollection(found: 4)
        let pending = recorder.pending
        #expect(pending.hits == 1)
        #expect(pending.misses.counts == ["notFound": 1, "undecodable": 1, "unavailable": 1])
        #expect(pending.missesByType.counts["Message"] == pending.misses)
        #expect(pending.readLatency.count == 3)
        #expect(pending.readLatency.maximum == .microseconds(7))
        #expect(pending.commits == 1)
        #expect(pending.commitLatency.maximum == .milliseconds(2))
        #expect(pending.droppedWrites.counts == ["queueFull": 1])
        #expect(pending.generationsReplaced.counts == ["damaged": 1])
        #expect(pending.mapFullRecoveries == 1)
        #expect(pending.cycleCollections == 1)
        #expect(pending.cycleRecordsFound == 4)
        #expect(recorder.drain(for: 1, in: "g-1") == pending)
        #expect(recorder.pending == LifetimeCounters())
    }

    @Test("The counts that a failed commit took are pending again")
    func puttingBack() {
        let recorder = StatisticsRecorder()
        recorder.countHit(took: 1_000)
        let delta = recorder.drain(for: 7, in: "g-1")
        recorder.countHit(took: 2_000)
        recorder.putBack(delta)
        #expect(recorder.pending(asOf: 3, in: "g-1").hits == 2)
        #expect(recorder.pending.hits == 2)
        let again = recorder.drain(for: 7, in: "g-1")
        #expect(again.hits == 2)
        #expect(again.readLatency.count == 2)
    }

    @Test(
        """
        A snapshot older than a commit adds the counts that the commit took, and a newer one does \
        not
        """)
    func snapshots() {
        let recorder = StatisticsRecorder()
        recorder.countHit(took: 0)
        let stored = recorder.drain(for: 7, in: "g-1")
        recorder.countMiss(.notFound, of: "Message", took: 0)
        #expect(stored.hits == 1)
        #expect(recorder.pending(asOf: 6, in: "g-1").hits == 1)
        #expect(recorder.pending(asOf: 6, in: "g-1").misses.total == 1)
        #expect(recorder.pending(asOf: 7, in: "g-1").hits == 0)
        // The next generation has begun with them, and its transactions are numbered from 1.
        #expect(recorder.pending(asOf: 1, in: "g-2").hits == 0)
        #expect(recorder.pending.hits == 0)
    }

    @Test(
        """
        A recorder loses no count and counts none twice while reads, commits and snapshots run in \
        parallel
        """)
    func sideBySide() async {
        let recorder = StatisticsRecorder()
        let (readers, reads) = (4, 5_000)
        let stored = await withTaskGroup(of: LifetimeCounters.self) { group in
            for reader in 0..<readers {
                group.addTask {
                    for read in 0..<reads {
                        let took = UInt64(reader * read)
                        if read % 5 == 0 {
                            recorder.countMiss(.notFound, of: "Message", took: took)
                        } else {
                            recorder.countHit(took: took)
                        }
                    }
                    return LifetimeCounters()
                }
            }
            group.addTask {
                var stored = LifetimeCounters()
                for commit in 1...300 {
                    let delta = recorder.drain(for: UInt64(commit), in: "g-1")
                    if commit % 3 == 0 { recorder.putBack(delta) } else { stored += delta }
                    recorder.countCommit(took: .zero)
                }
                return stored
            }
            group.addTask {
                for _ in 0..<300 { #expect(recorder.pending.hits <= UInt64(readers * reads)) }
                return LifetimeCounters()
            }
            return await group.reduce(into: LifetimeCounters()) { $0 += $1 }
        }
        var all = stored
        all += recorder.pending
        #expect(all.hits == UInt64(readers * reads * 4 / 5))
        #expect(all.misses.counts == ["notFound": UInt64(readers * reads / 5)])
        #expect(all.missesByType.counts == ["Message": all.misses])
        #expect(all.readLatency.count == readers * reads)
        #expect(all.commits == 300)
    }
}
