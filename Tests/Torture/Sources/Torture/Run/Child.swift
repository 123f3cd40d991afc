import Glibc

/// A child process: this program again, or another one.
final class Child {
    /// How a child has ended.
    enum Ending: Equatable, CustomStringConvertible {
        case exited(Int32)
        case killed(signal: Int32)
        /// The child did not end in time, and was killed.
        case hung

        var isCrash: Bool {
            if case .killed = self { true } else { false }
        }

        var description: String {
            switch self {
            case .exited(let status): "exit status \(status)"
            case .killed(let signal): "signal \(signal)"
            case .hung: "a hang"
            }
        }
    }

    /// The path of this program.
    static let program: String = {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes {
            $0.bindMemory(to: CChar.self).baseAddress.map { base in
                readlink("/proc/self/exe", base, 4_096)
            }
        }
        return String(decoding: buffer.prefix(max(0, count ?? 0)), as: UTF8.self)
    }()

    let process: pid_t
    private var ending: Ending?

    /// Starts a child.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the name of the program.
    ///   - program: The path of the program; this one by default.
    ///   - output: The file for standard output and error; none by default.
    init(
        _ arguments: [String], program: String = Child.program, output: String = "/dev/null"
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let words: [UnsafeMutablePointer<CChar>?] =
            ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, program, &actions, nil, words, environ)
        guard error == 0 else { throw Mistake("\(program) can't be started: error \(error)") }
        self.process = process
    }

    deinit {
        if ending == nil {
            send(SIGKILL)
            _ = wait(seconds: 5)
        }
    }

    func send(_ signal: Int32) {
        if ending == nil { kill(process, signal) }
    }

    /// Returns how the child has ended, or `nil` if it still runs.
    func poll() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return nil }
        let signal = status & 0x7F
        ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
        return ending
    }

    /// Waits until the child ends, and kills it after the time limit.
    func wait(seconds: Double) -> Ending {
        let end = Moment.now + seconds
        while true {
            if let ending = poll() { return ending }
            if Moment.now > end { break }
            usleep(300)
        }
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        ending = .hung
        return .hung
    }

    /// Starts a child and waits until it ends. Returns its ending, and its last line of output.
    static func run(
        _ arguments: [String], program: String = Child.program, output: String, seconds: Double
    ) throws -> (ending: Ending, line: String) {
        unlink(output)
        let child = try Child(arguments, program: program, output: output)
        let ending = child.wait(seconds: seconds)
        return (ending, Files.lastLine(of: output))
    }
}

/// The time since the machine was started, in seconds.
enum Moment {
    static var now: Double { Double(nanoseconds) / 1e9 }

    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
