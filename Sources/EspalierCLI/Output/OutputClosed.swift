/// Whoever read standard output has gone: `| head` has its lines. There is nobody to tell, and
/// nothing went wrong.
struct OutputClosed: Error {
    /// What a shell sees of a process that the signal for it ended, which is what happens unless
    /// the signal is ignored.
    static let code: Int32 = 128 + 13
}
