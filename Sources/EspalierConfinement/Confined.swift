#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A value that one thread owns.
///
/// ```swift
/// private let depth = Confined(0)
///
/// func descend() { depth.value += 1 }
/// ```
///
/// Reads and commits keep the state that every record changes in `Confined` values instead of in a
/// `var` of a class. The compiler checks each access to such a `var` for exclusive access at run
/// time: the checks took 468 of the 5,800 instructions of a decoded record, and 4,800 of the 32,000
/// of a written one.
///
/// In return the owner keeps two rules:
///
/// - Only one thread uses the value. The thread that makes it owns it, until another one calls
///   ``transferToCurrentThread()``. Debug builds check the owner at each access and trap; release
///   builds check nothing.
/// - Nothing that is called while `value` is being changed uses `value` again. No build checks
///   this, so a change is short and calls no code of a model or of a caller.
///
/// The type is public, in a module that no product has, because the compiler inlines `package` code
/// into its own module only. Calls took a fiftieth of a write.
///
/// - Complexity: One allocation for each `Confined`. An access is a load or a store.
@safe
@frozen
public struct Confined<Value: ~Copyable>: ~Copyable {
    @usableFromInline let pointer: UnsafeMutablePointer<Value>
    #if DEBUG
    @usableFromInline let owner: UnsafeMutablePointer<UInt>
    #endif

    /// Makes a value that the calling thread owns.
    @inlinable
    public init(_ value: consuming Value) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
        #if DEBUG
        unsafe owner = .allocate(capacity: 1)
        unsafe owner.initialize(to: ThreadIdentity.current)
        #endif
    }

    @inlinable
    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
        #if DEBUG
        unsafe owner.deallocate()
        #endif
    }

    /// The value. Traps in debug builds on a thread that does not own it.
    public var value: Value {
        @inlinable @inline(__always) unsafeAddress {
            #if DEBUG
            checkOwner()
            #endif
            return unsafe UnsafePointer(pointer)
        }
        @inlinable @inline(__always) nonmutating unsafeMutableAddress {
            #if DEBUG
            checkOwner()
            #endif
            return unsafe pointer
        }
    }

    /// Makes the calling thread the owner.
    ///
    /// The caller answers for it that the previous owner is done with the value, and that a lock or
    /// a queue orders its last access before this call.
    @inlinable @inline(__always)
    public func transferToCurrentThread() {
        #if DEBUG
        unsafe owner.pointee = ThreadIdentity.current
        #endif
    }

    #if DEBUG
    @usableFromInline
    func checkOwner() {
        precondition(
            unsafe owner.pointee == ThreadIdentity.current,
            "A value that is confined to one thread was used on another thread.")
    }
    #endif
}

/// A reference to an object that another property keeps alive. Its use changes no reference count.
///
/// Threads that use the same object count their references in the same cache line, and each waits
/// for the others: reads from memory by two threads took nearly as long as one after the other.
///
/// The type that stores such a reference also stores a strong one to the same object, so that the
/// object lives at least as long. It is `Sendable` because the object is; `Unmanaged` is not.
@safe
public struct Uncounted<Object: AnyObject & Sendable>: @unchecked Sendable {
    @usableFromInline let reference: Unmanaged<Object>

    /// Creates a reference to an object that another property keeps alive.
    @inlinable
    public init(_ object: Object) { unsafe reference = .passUnretained(object) }

    /// Calls `body` with the object.
    @inlinable @inline(__always)
    public func with<R>(_ body: (Object) -> R) -> R {
        unsafe reference._withUnsafeGuaranteedRef(body)
    }
}

/// Memory that keeps an object apart from the next one: its last property. Two objects that
/// different threads change would otherwise share a cache line, and each thread would wait for the
/// other.
public struct CacheLinePadding: Sendable {
    // Twice 64 bytes: processors fetch lines in pairs.
    private let words:
        (
            UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
            UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
        ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// Creates the padding.
    public init() {}
}

/// The number by which the system knows the calling thread.
public enum ThreadIdentity {
    /// The number of the calling thread.
    public static var current: UInt {
        #if canImport(Glibc)
        return UInt(pthread_self())
        #else
        return unsafe UInt(bitPattern: pthread_self())
        #endif
    }
}
