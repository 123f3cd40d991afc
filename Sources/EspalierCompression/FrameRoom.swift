/// Memory for one frame after the other, each behind the bytes that it is stored without.
@safe
struct FrameRoom: ~Copyable {
    // Sound, because nobody else has the memory beyond a call: allocated by `init` and `take`,
    // freed by `deinit`. The first `count` bytes are initialised.
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init() { unsafe memory = Self.allocate(1_024) }

    deinit { unsafe memory.deallocate() }

    /// Of use until the next one is taken in.
    var frame: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    mutating func take(_ stored: UnsafeRawBufferPointer) {
        count = Frame.magic.count + stored.count
        if unsafe count > memory.count {
            unsafe memory.deallocate()
            unsafe memory = Self.allocate(count * 2)
        }
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[Frame.magic.count...]).copyMemory(
            from: stored)
    }

    private static func allocate(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        unsafe memory.copyBytes(from: Frame.magic)
        return unsafe memory
    }
}
