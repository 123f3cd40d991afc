import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What standard output is connected to.
enum Terminal {
    /// Whether a person reads along.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The columns that lines may take: those of the terminal, or of `COLUMNS` where that is set; nil where there is no limit,
    /// as in a pipe.
    static var width: Int? {
        if let columns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 {
            return columns
        }
        guard isOutput else { return nil }
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}
