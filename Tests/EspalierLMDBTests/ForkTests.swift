import Testing

/// Swift hides `fork`; these tests find it by name, and run in a process of their own.
@Suite("fork", .enabled(if: Forking.isAvailable))
struct ForkTests {
    @Test("a child cannot use, nor harm, what its parent opened, and may open it anew")
    func child() async {
        await #expect(processExitsWith: .success) { try Forked.child() }
    }

    @Test("transactions inherited by a child end there without a trace")
    func openTransactions() async {
        await #expect(processExitsWith: .success) { try Forked.openTransactions() }
    }

    @Test("slots of a dead process are taken over when the table is full")
    func staleReaders() async {
        await #expect(processExitsWith: .success) { try Forked.staleReaders() }
    }
}
