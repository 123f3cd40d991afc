/// The near cache of a host: the copies that were read last, each with the commit of its server
/// after which it was fetched.
struct NearCopies {
    private struct Entry {
        var rank: UInt32
        var clock: UInt32
        var older: Int32
        var newer: Int32
    }
    private let capacity: Int
    private var places: [UInt32: Int32] = [:]
    private var entries: [Entry] = []
    private var oldest: Int32 = -1
    private var newest: Int32 = -1

    /// - Parameter capacity: The most copies, at least 1.
    init(capacity: Int) { self.capacity = capacity }

    var count: Int { places.count }

    /// Returns the commit after which the copy of a record was fetched, and makes it the one that
    /// was read last; nil without a copy.
    mutating func read(_ rank: UInt32) -> UInt32? {
        guard let place = places[rank] else { return nil }
        makeNewest(place)
        return entries[Int(place)].clock
    }

    /// Stores a copy, in place of the one that was read least recently if there is no room. Keeps a
    /// later copy of the same record.
    mutating func store(_ rank: UInt32, _ clock: UInt32) {
        if let place = places[rank] {
            entries[Int(place)].clock = max(entries[Int(place)].clock, clock)
            makeNewest(place)
        } else if entries.count < capacity {
            let place = Int32(entries.count)
            entries.append(Entry(rank: rank, clock: clock, older: -1, newer: -1))
            places[rank] = place
            link(place)
        } else {
            let place = oldest
            unlink(place)
            places[entries[Int(place)].rank] = nil
            entries[Int(place)].rank = rank
            entries[Int(place)].clock = clock
            places[rank] = place
            link(place)
        }
    }

    /// Gives each copy another commit.
    mutating func setClocks(_ clock: (_ rank: UInt32, _ old: UInt32) -> UInt32) {
        for place in entries.indices {
            entries[place].clock = clock(entries[place].rank, entries[place].clock)
        }
    }

    private mutating func makeNewest(_ place: Int32) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    private mutating func link(_ place: Int32) {
        entries[Int(place)].older = newest
        entries[Int(place)].newer = -1
        if newest >= 0 { entries[Int(newest)].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int32) {
        let (older, newer) = (entries[Int(place)].older, entries[Int(place)].newer)
        if older >= 0 { entries[Int(older)].newer = newer } else { oldest = newer }
        if newer >= 0 { entries[Int(newer)].older = older } else { newest = older }
    }
}
