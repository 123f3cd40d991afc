import Foundation

enum Forking {
    private static let fork: (@convention(c) () -> Int32)? = {
        #if os(Linux)
        guard let symbol = unsafe dlsym(nil, "fork") else { return nil }
        return unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
        #else
        return nil
        #endif
    }()

    static var isAvailable: Bool { fork != nil }

    /// Runs `body` in a forked child and returns the status it exits with; 255 when it was killed.
    static func run(_ body: () -> Int32) -> Int32 {
        guard let fork else { return 254 }
        let child = fork()
        if child == 0 { _exit(body()) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 255
    }
}
