import Foundation
import Testing

@testable import FleetSimulation

@Suite("The parts of the simulation")
struct PartsTests {
    @Test(
        "Ranks are drawn as often as the Zipf law says", arguments: [0, 0.5, 0.8, 1, 1.5])
    func zipf(exponent: Double) {
        let law = ZipfLaw(count: 8, exponent: exponent)
        var numbers = SeededNumbers(seed: 5)
        let draws = 400_000
        var counts = [Int](repeating: 0, count: 9)
        for _ in 0..<draws { counts[law.sample(&numbers)] += 1 }
        let weights = (1...8).map { pow(Double($0), -exponent) }
        let total = weights.reduce(0, +)
        var distance = 0.0
        for (index, weight) in weights.enumerated() {
            let expected = Double(draws) * weight / total
            let difference = Double(counts[index + 1]) - expected
            distance += difference * difference / expected
        }
        // Chi-squared with 7 degrees of freedom is above 24.3 once in 1,000 times.
        #expect(counts[0] == 0)
        #expect(distance < 24.3)
    }

    @Test("The head of 10^9 ranks has its share")
    func largeZipf() {
        let law = ZipfLaw(count: 1_000_000_000, exponent: 1)
        var numbers = SeededNumbers(seed: 6)
        var head = 0
        var largest = 0
        for _ in 0..<200_000 {
            let rank = law.sample(&numbers)
            head += rank <= 10 ? 1 : 0
            largest = max(largest, rank)
        }
        // The harmonic numbers of 10 and of 10^9.
        #expect(abs(Double(head) / 200_000 - 2.928968 / 21.300482) < 0.004)
        #expect(largest > 900_000_000 && largest <= 1_000_000_000)
    }

    @Test("A near cache removes the copy that was read least recently")
    func leastRecentlyRead() {
        var copies = NearCopies(capacity: 3)
        for rank in 1...3 { copies.store(UInt32(rank), 10) }
        #expect(copies.read(1) == 10)
        copies.store(4, 11)
        #expect(copies.read(2) == nil)
        #expect(copies.count == 3)
        copies.store(3, 12)
        copies.store(5, 13)
        #expect(copies.read(1) == nil)
        #expect([3, 4, 5].map { copies.read($0) } == [12, 11, 13])
        copies.store(5, 9)
        #expect(copies.read(5) == 13)
    }

    @Test("A near cache does what a list in the order of reads does")
    func listOracle() {
        var numbers = SeededNumbers(seed: 7)
        var copies = NearCopies(capacity: 5)
        var list: [(rank: UInt32, clock: UInt32)] = []
        for step in 0..<20_000 {
            let rank = UInt32(numbers.next() % 9)
            let place = list.firstIndex { $0.rank == rank }
            if numbers.next() % 2 == 0 {
                #expect(copies.read(rank) == place.map { list[$0].clock })
                if let place { list.append(list.remove(at: place)) }
            } else {
                copies.store(rank, UInt32(step))
                if let place {
                    list.remove(at: place)
                } else if list.count == 5 {
                    list.removeFirst()
                }
                list.append((rank, UInt32(step)))
            }
        }
    }

    @Test("Events come by time, and at one time in the order in which they were added")
    func queue() {
        var numbers = SeededNumbers(seed: 8)
        var queue = EventQueue<Int>()
        var expected: [(time: Int, event: Int)] = []
        for event in 0..<2_000 {
            let time = Int(numbers.next() % 50)
            queue.add(event, at: time)
            expected.append((time, event))
        }
        expected.sort { ($0.time, $0.event) < ($1.time, $1.event) }
        for entry in expected {
            let next = queue.next()
            #expect(next?.time == entry.time && next?.event == entry.event)
        }
        #expect(queue.next() == nil)
    }

    @Test("Percentiles of times are right within 3 %")
    func times() {
        var counts = TimeCounts()
        for time in 1...100_000 { counts.add(time) }
        for share in [0.0, 0.001, 0.25, 0.5, 0.99] {
            let exact = 1 + 100_000 * share
            #expect(abs(Double(counts.time(at: share)) - exact) <= max(1, exact * 0.032))
        }
        #expect(counts.count == 100_000)
        #expect(counts.longest == 100_000)
    }

    @Test("The formula of hit rates agrees with a cache")
    func formula() {
        let law = ZipfLaw(count: 1_000_000, exponent: 1)
        var numbers = SeededNumbers(seed: 9)
        var copies = NearCopies(capacity: 2_000)
        var hits = 0
        for step in 0..<300_000 {
            let rank = UInt32(law.sample(&numbers))
            if copies.read(rank) != nil {
                hits += step >= 100_000 ? 1 : 0
            } else {
                copies.store(rank, 0)
            }
        }
        #expect(abs(Double(hits) / 200_000 - law.hitRate(ofCapacity: 2_000)) < 0.01)
        #expect(law.hitRate(ofCapacity: 1_000_000) > 0.998)
    }
}
