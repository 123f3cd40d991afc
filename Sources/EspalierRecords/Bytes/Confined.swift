/// A value that one thread changes, without the checks of exclusive access at run time that a `var` of a class pays for: they
/// took 468 of the 5,800 instructions of a decoded node.
///
/// What the checks find, the caller answers for: nothing that is called while `value` is being changed may use it again.
@safe
@frozen
package struct Confined<Value: ~Copyable>: ~Copyable {
    @usableFromInline let pointer: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming Value) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    package var value: Value {
        @inlinable @inline(__always) unsafeAddress { unsafe UnsafePointer(pointer) }
        @inlinable @inline(__always) nonmutating unsafeMutableAddress { unsafe pointer }
    }
}
