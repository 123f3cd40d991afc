import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What standard output and signals of this process are connected to.
enum Terminal {
    /// Keeps descriptors 0 to 2 taken where the caller closed them, or the first files opened would
    /// become them: what is printed must never land in a file of a cache. Writing to one held like
    /// this fails.
    static func holdStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest number that is free; never closed again.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Whether this process was started with a signal ignored.
    static func isIgnored(_ number: Int32) -> Bool {
        var inherited = sigaction()
        guard unsafe sigaction(number, nil, &inherited) == 0 else { return false }
        #if canImport(Glibc)
        let handler = unsafe inherited.__sigaction_handler.sa_handler
        #else
        let handler = unsafe inherited.__sigaction_u.__sa_handler
        #endif
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether a person reads along.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether a person sees what stands on standard error.
    static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// The columns that lines may take: those of the terminal, or of `COLUMNS` where that is set;
    /// nil where there is no limit, as in a pipe.
    static var width: Int? {
        if let columns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap({ Int($0) }),
            columns > 0
        {
            return columns
        }
        guard isOutput else { return nil }
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}
