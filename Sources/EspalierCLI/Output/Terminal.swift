#if CommandLine
import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The terminal, standard descriptors and signals of this process.
enum Terminal {
    /// Opens descriptors 0 to 2 if the caller closed them. Otherwise the first files opened would
    /// become them, and output could land in a file of a cache. Writing to such a descriptor fails.
    static func holdStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // `open` returns the lowest free number. It is never closed again.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Makes a closed pipe an error of the write, after which `defer` runs: a process that SIGPIPE
    /// ends leaves its caches as a crash does.
    static func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Returns whether the process was started with the signal `number` ignored.
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

    /// Whether standard output is a terminal.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// The most columns of a line: `COLUMNS` if it is set, or else the width of the terminal. Nil
    /// for no limit, as in a pipe.
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

/// Calls a handler for signals that would end the process, until it is canceled.
final class SignalWatch {
    private var sources: [(number: Int32, source: any DispatchSourceSignal)] = []

    init(_ numbers: [Int32], _ handler: @escaping @Sendable (_ number: Int32) -> Void) {
        sources = numbers.compactMap { number in
            // A signal that was ignored before, as by nohup, stays ignored.
            guard !Terminal.isIgnored(number) else { return nil }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { handler(number) }
            source.resume()
            return (number, source)
        }
    }

    deinit { cancel() }

    func cancel() {
        for (number, source) in sources {
            source.cancel()
            // A signal left ignored would be ignored in child processes too.
            signal(number, SIG_DFL)
        }
        sources = []
    }
}

/// The style of a piece of text on a terminal.
enum TextStyle: Sendable, Equatable {
    case plain, title, faint, name, good, warning, bad

    /// The parameters of the SGR sequence. The sixteen colors follow the theme of the user.
    fileprivate var parameters: String? {
        switch self {
        case .plain: nil
        case .title: "1"
        case .faint: "2"
        case .name: "36"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        }
    }
}

/// Colors text, or leaves it plain.
struct Palette: Sendable {
    let isColored: Bool

    static let plain = Palette(isColored: false)

    func paint(_ text: String, _ style: TextStyle) -> String {
        guard isColored, !text.isEmpty, let parameters = style.parameters else { return text }
        return "\u{1B}[\(parameters)m\(text)\u{1B}[0m"
    }
}

/// Whether output is colored.
enum ColorChoice: String, Sendable, CaseIterable {
    case auto
    case always
    case never

    /// Returns the palette for the output. `auto` colors on a terminal that understands colors,
    /// unless `NO_COLOR` is set to any value (no-color.org).
    func palette(
        isTerminal: Bool, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Palette {
        switch self {
        case .always: return Palette(isColored: true)
        case .never: return .plain
        case .auto:
            let isRefused =
                environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
            return Palette(isColored: isTerminal && !isRefused)
        }
    }
}
#endif
