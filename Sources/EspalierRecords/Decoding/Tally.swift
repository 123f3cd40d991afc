import Synchronization

/// A number that one thread counts with. An atomic only because that spares the checks of exclusive
/// access at run time that a `var` of a class pays for; relaxed loads and stores are plain ones.
struct Tally: ~Copyable {
    private let number: Atomic<Int>

    init(_ value: Int) { number = Atomic(value) }

    @inline(__always)
    var value: Int { number.load(ordering: .relaxed) }

    @inline(__always)
    func add(_ amount: Int) { number.store(value &+ amount, ordering: .relaxed) }
}
