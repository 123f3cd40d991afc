import CHiredis
import Foundation

/// Where a server is, and how to log in.
public struct RedisAddress: Sendable, Hashable {
    /// The name or the IP address of the host.
    public var host: String
    /// The port.
    public var port: Int
    /// The user; nil for the default user.
    public var user: String?
    /// The password; nil for none.
    public var password: String?
    /// The number of the database.
    public var database: Int

    /// Makes an address.
    ///
    /// - Parameters:
    ///   - host: The name or the IP address of the host.
    ///   - port: The port.
    ///   - user: The user; nil for the default user.
    ///   - password: The password; nil for none.
    ///   - database: The number of the database.
    public init(
        host: String, port: Int = 6379, user: String? = nil, password: String? = nil,
        database: Int = 0
    ) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.database = database
    }
}

/// One connection to a server, by hiredis. It blocks the thread that uses it, which is one at a
/// time.
///
/// After an error the connection is of no use any more: an answer that comes late would be taken
/// for that of another command.
@safe
public final class RedisConnection {
    private let context: UnsafeMutablePointer<redisContext>
    private let timeout: Duration
    private var socketTimeout: Duration
    /// Names the server's process: another one means that the server has restarted, or that another
    /// server has taken its place.
    public private(set) var runIdentifier = ""

    /// The oldest version of Redis that works: streams and `GETRANGE` are older, `XADD` with an
    /// explicit identifier and approximate trimming in one command is not.
    private static let oldestVersion = (6, 2)

    /// Connects and logs in.
    ///
    /// - Parameters:
    ///   - address: The server.
    ///   - timeout: How long to wait for the connection and for each answer.
    /// - Throws: `.unreachable`, `.denied`, `.timedOut` or `.unsupportedVersion`.
    public init(_ address: RedisAddress, timeout: Duration) throws(RedisError) {
        guard
            let context = unsafe address.host.withCString({ host in
                unsafe redisConnectWithTimeout(host, Int32(clamping: address.port), timeout.timeval)
            })
        else { throw .unreachable("there is no memory for a connection") }
        unsafe self.context = unsafe context
        self.timeout = timeout
        socketTimeout = timeout
        guard unsafe context.pointee.err == 0 else { throw unsafe Self.error(of: context) }
        unsafe redisSetTimeout(context, timeout.timeval)
        unsafe redisEnableKeepAlive(context)
        try logIn(address)
    }

    deinit { unsafe redisFree(context) }

    private func logIn(_ address: RedisAddress) throws(RedisError) {
        var commands: [RedisCommand] = []
        if let password = address.password {
            let user = address.user.map { [$0] } ?? []
            commands.append(RedisCommand("AUTH", user + [password]))
        }
        if address.database != 0 { commands.append(RedisCommand("SELECT", address.database)) }
        commands.append(RedisCommand("INFO", "server"))
        let replies = try send(commands)
        for case .error(let message) in replies {
            let isDenied = ["NOAUTH", "WRONGPASS", "NOPERM", "ERR AUTH", "ERR Client sent AUTH"]
                .contains { message.hasPrefix($0) }
            throw isDenied ? .denied(message) : .refused(message)
        }
        let information = replies.last?.text ?? ""
        func value(_ name: String) -> String {
            let line = information.split(whereSeparator: \.isNewline).first {
                $0.hasPrefix("\(name):")
            }
            return line.map { String($0.dropFirst(name.count + 1)) } ?? ""
        }
        let version = value("redis_version")
        let numbers = version.split(separator: ".").compactMap { Int($0) }
        guard numbers.count >= 2, (numbers[0], numbers[1]) >= Self.oldestVersion else {
            throw .unsupportedVersion(version)
        }
        runIdentifier = value("run_id")
    }

    /// Sends commands at once, and returns the answers in their order: one round trip.
    ///
    /// - Parameter commands: The commands.
    /// - Returns: An answer for each command. One that the server refuses is `.error`.
    /// - Throws: `.unreachable`, `.timedOut` or `.malformed`.
    public func send(_ commands: [RedisCommand]) throws(RedisError) -> [RedisReply] {
        try write(commands)
        return try read(commands.count)
    }

    /// Sends commands without waiting for the answers. `read` must follow.
    ///
    /// - Parameter commands: The commands.
    /// - Throws: `.unreachable` or `.timedOut`.
    func write(_ commands: [RedisCommand]) throws(RedisError) {
        let wait = commands.map(\.wait).max() ?? .zero
        try setTimeout(timeout + wait)
        for command in commands {
            let status = unsafe command.bytes.withUnsafeBytes { bytes in
                unsafe redisAppendFormattedCommand(
                    context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            guard status == REDIS_OK else { throw unsafe Self.error(of: context) }
        }
        var isDone: Int32 = 0
        while isDone == 0 {
            guard unsafe redisBufferWrite(context, &isDone) == REDIS_OK else {
                throw unsafe Self.error(of: context)
            }
        }
    }

    /// Whether the server has closed the connection, or has sent what nobody asked for.
    var isBroken: Bool { waitForAnswer(milliseconds: 0) }

    /// Waits until bytes of an answer have come. Returns false if none have in time.
    ///
    /// - Parameter milliseconds: How long to wait.
    func waitForAnswer(milliseconds: Int) -> Bool {
        var descriptor = unsafe pollfd(fd: context.pointee.fd, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, Int32(milliseconds)) > 0
    }

    /// Waits for answers.
    ///
    /// - Parameter count: The number of commands that were sent and not answered.
    /// - Returns: An answer for each command.
    /// - Throws: `.unreachable`, `.timedOut` or `.malformed`.
    func read(_ count: Int) throws(RedisError) -> [RedisReply] {
        var replies: [RedisReply] = []
        replies.reserveCapacity(count)
        for _ in 0..<count {
            var reply: UnsafeMutableRawPointer?
            guard unsafe redisGetReply(context, &reply) == REDIS_OK, let reply = unsafe reply else {
                throw unsafe Self.error(of: context)
            }
            defer { unsafe freeReplyObject(reply) }
            replies.append(
                try unsafe Self.reply(reply.assumingMemoryBound(to: redisReply.self).pointee))
        }
        return replies
    }

    private func setTimeout(_ timeout: Duration) throws(RedisError) {
        guard timeout != socketTimeout else { return }
        guard unsafe redisSetTimeout(context, timeout.timeval) == REDIS_OK else {
            throw unsafe Self.error(of: context)
        }
        socketTimeout = timeout
    }

    private static func reply(_ reply: redisReply) throws(RedisError) -> RedisReply {
        func bytes() -> [UInt8] {
            unsafe Array(UnsafeRawBufferPointer(start: reply.str, count: reply.len))
        }
        switch unsafe reply.type {
        case REDIS_REPLY_NIL: return .null
        case REDIS_REPLY_INTEGER: return unsafe .integer(Int(reply.integer))
        case REDIS_REPLY_STRING: return .bytes(bytes())
        case REDIS_REPLY_STATUS: return .status(String(decoding: bytes(), as: UTF8.self))
        case REDIS_REPLY_ERROR: return .error(String(decoding: bytes(), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            var elements: [RedisReply] = []
            unsafe elements.reserveCapacity(reply.elements)
            for index in unsafe 0..<reply.elements {
                guard let element = unsafe reply.element[index] else {
                    throw .malformed("an array without elements")
                }
                elements.append(try unsafe self.reply(element.pointee))
            }
            return .array(elements)
        default: throw unsafe .malformed("a reply of type \(reply.type)")
        }
    }

    private static func error(of context: UnsafeMutablePointer<redisContext>) -> RedisError {
        let number = errno
        let detail = unsafe withUnsafeBytes(of: context.pointee.errstr) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        switch unsafe context.pointee.err {
        case REDIS_ERR_PROTOCOL: return .malformed(detail)
        case REDIS_ERR_IO where number == EAGAIN || number == EWOULDBLOCK || number == ETIMEDOUT:
            return .timedOut
        default: return .unreachable(detail)
        }
    }
}

extension Duration {
    /// The duration as C has it.
    fileprivate var timeval: timeval {
        let (seconds, attoseconds) = components
        return Foundation.timeval(
            tv_sec: Int(seconds), tv_usec: .init(attoseconds / 1_000_000_000_000))
    }
}
