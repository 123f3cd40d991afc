#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The space left on a thread's stack: the thread of the first call.
///
/// Recursion over models runs users' initialisers, so frames can't be counted in advance. A Codable
/// walk was measured at 735 to 1,183 bytes a level optimised, and several times that in a debug
/// build, on threads with 512 KiB of stack.
package struct StackSpace {
    /// Checking every few levels keeps the cost off shallow trees, which are nearly all of them.
    /// The reserve has to hold the frames of so many levels: up to 15 KiB each with the address
    /// sanitizer.
    private static let interval = 8
    private static let reserve: UInt = 160 << 10
    /// The bytes of stack that a comparison of models may take for each level. An estimate: it is
    /// at least twice what an encoder takes optimised, whose frames are larger.
    private static let comparison: UInt = 2 << 10
    private static let largestStack: UInt = 1 << 30
    private var lowest: UInt?

    package init() {}

    /// Returns whether a check is due at `depth`.
    @inline(__always)
    package static func isDue(at depth: Int) -> Bool { depth % interval == interval - 1 }

    /// Returns whether it is safe to go deeper.
    package mutating func hasSpace() -> Bool {
        let lowest = lowest ?? Self.lowestOfThread()
        self.lowest = lowest
        return Self.bytesLeft(above: lowest).map { $0 > Self.reserve } ?? true
    }

    /// Returns whether it is safe to compare models that are nested `levels` deep.
    package mutating func hasSpace(toCompare levels: Int) -> Bool {
        let lowest = lowest ?? Self.lowestOfThread()
        self.lowest = lowest
        let needed = Self.reserve / 2 + UInt(max(0, levels)) * Self.comparison
        return Self.bytesLeft(above: lowest).map { $0 > needed } ?? true
    }

    /// Returns whether the calling thread is known to have at least `count` bytes left.
    package static func isLeft(_ count: Int) -> Bool {
        bytesLeft(above: lowestOfThread()).map { $0 >= UInt(count) } ?? false
    }

    /// Returns nil where nothing is known: the lowest address is 0, or locals are not on the stack
    /// because a sanitizer keeps them elsewhere.
    private static func bytesLeft(above lowest: UInt) -> UInt? {
        var here: UInt8 = 0
        let address = unsafe withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
        guard lowest != 0, address > lowest, address - lowest < largestStack else { return nil }
        return address - lowest
    }

    // Kept with the thread: for the main one Linux searches all of the process's memory maps.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    private static func lowestOfThread() -> UInt {
        guard let key else { return lowestAddress() }
        if let known = unsafe pthread_getspecific(key) { return UInt(bitPattern: known) }
        let lowest = lowestAddress()
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: lowest))
        return lowest
    }

    private static func lowestAddress() -> UInt {
        #if canImport(Darwin)
        let top = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
        return top - UInt(pthread_get_stacksize_np(pthread_self()))
        #else
        guard let getAttributes = unsafe getAttributes else { return 0 }
        var attributes = pthread_attr_t()
        guard unsafe getAttributes(pthread_self(), &attributes) == 0 else { return 0 }
        defer { unsafe _ = pthread_attr_destroy(&attributes) }
        var address: UnsafeMutableRawPointer?
        var size = 0
        guard unsafe pthread_attr_getstack(&attributes, &address, &size) == 0 else { return 0 }
        return UInt(bitPattern: address)
        #endif
    }

    #if !canImport(Darwin)
    private typealias GetAttributes =
        @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt

    // glibc declares `pthread_getattr_np` only under _GNU_SOURCE, which Swift's module of it does
    // not set.
    private static let getAttributes: GetAttributes? = {
        guard let symbol = unsafe dlsym(nil, "pthread_getattr_np") else { return nil }
        return unsafe unsafeBitCast(symbol, to: GetAttributes.self)
    }()
    #endif
}
