import Foundation

/// The system call `fork`, which Swift hides. It is found by its name.
public enum Fork {
    private static let fork: (@convention(c) () -> Int32)? = {
        #if os(Linux)
        guard let symbol = unsafe dlsym(nil, "fork") else { return nil }
        return unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
        #else
        return nil
        #endif
    }()

    public static var isAvailable: Bool { fork != nil }

    /// Runs `body` in a forked child. Returns the status that the child exits with, or 255 if it is
    /// killed.
    ///
    /// Another thread may hold a lock of Swift's runtime at the moment of the fork, for example
    /// while it makes the metadata of a type. In the child nobody releases that lock. So a child
    /// that does not end within half a minute is killed, and another one runs `body`, up to three.
    public static func run(_ body: () -> Int32) -> Int32 {
        for _ in 0..<3 {
            let child = start(body)
            guard child > 0 else { return 254 }
            if let status = wait(for: child, seconds: 30) { return status }
            kill(child, SIGKILL)
            _ = wait(for: child)
        }
        return 253
    }

    /// Starts a forked child, which exits with the status that `body` returns. Returns its process
    /// identifier, or a negative number.
    public static func start(_ body: () -> Int32) -> Int32 {
        guard let fork else { return -1 }
        let child = fork()
        if child == 0 { _exit(body()) }
        return child
    }

    /// Waits until a child ends. Returns the status that it exits with, or 255 if it is killed.
    public static func wait(for child: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 255
    }

    /// Waits until a child ends. Returns the status that it exits with, or 255 if it is killed; nil
    /// if it has not ended after some seconds.
    private static func wait(for child: Int32, seconds: Int) -> Int32? {
        var status: Int32 = 0
        for _ in 0..<seconds * 1_000 {
            if unsafe waitpid(child, &status, WNOHANG) == child {
                return status & 0x7F == 0 ? (status >> 8) & 0xFF : 255
            }
            usleep(1_000)
        }
        return nil
    }

    /// Waits until a child has stopped itself.
    public static func waitUntilStopped(_ child: Int32) {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR {}
    }
}
