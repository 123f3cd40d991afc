import EspalierConfinement
import Foundation
import Testing

/// Hands a confined value to other threads, which is what the check is to find.
private final class Shared: @unchecked Sendable {
    let confined = Confined(0)

    func run(_ body: @escaping @Sendable (Shared) -> Void) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            body(self)
            done.signal()
        }
        done.wait()
    }
}

@Suite("Confined values") struct ConfinedTests {
    @Test("The thread that makes a confined value reads and changes it")
    func owner() {
        let confined = Confined([1, 2])
        confined.value.append(3)
        #expect(confined.value == [1, 2, 3])
    }

    @Test("A confined value ends the life of what it holds when it goes")
    func lifetime() {
        final class Witness {}
        weak var witness: Witness?
        do {
            let confined = Confined(Witness())
            witness = confined.value
            #expect(witness != nil)
        }
        #expect(witness == nil)
    }

    @Test("A thread that a confined value was transferred to uses it")
    func transferred() {
        let shared = Shared()
        shared.run { shared in
            shared.confined.transferToCurrentThread()
            shared.confined.value += 1
        }
        shared.confined.transferToCurrentThread()
        #expect(shared.confined.value == 1)
    }

    #if DEBUG
    @Test("A read of a confined value on another thread traps in debug builds")
    func readElsewhere() async {
        await #expect(processExitsWith: .failure) {
            Shared().run { _ = $0.confined.value }
        }
    }

    @Test("A change of a confined value on another thread traps in debug builds")
    func changeElsewhere() async {
        await #expect(processExitsWith: .failure) {
            Shared().run { $0.confined.value += 1 }
        }
    }

    @Test("The thread that transferred a confined value away traps in debug builds when it uses it")
    func formerOwner() async {
        await #expect(processExitsWith: .failure) {
            let shared = Shared()
            shared.run { $0.confined.transferToCurrentThread() }
            shared.confined.value += 1
        }
    }
    #endif
}
