/// Calls something on a schedule, and times each call from when it was due.
///
/// Who calls back to back waits for one slow call and misses all that would have been slow beside
/// it (*coordinated omission*): here a call that comes late because of the one before has waited,
/// and says so.
struct PacedCalls {
    var interval = Duration.microseconds(100)

    func run(for duration: Duration, into latencies: inout Latencies, _ body: () throws -> Void)
        rethrows
    {
        let clock = ContinuousClock()
        var due = clock.now
        let end = due + duration
        while due < end {
            // No sleep is as exact.
            while clock.now < due {}
            try body()
            latencies.record(clock.now - due)
            due += interval
        }
    }
}
