/// A command in the form in which a server reads it: the RESP protocol.
///
/// ```swift
/// let command = RedisCommand("SET", "Person:1", record)
/// ```
public struct RedisCommand: Sendable {
    /// The bytes of the command.
    public private(set) var bytes: [UInt8] = []
    /// How long the server may wait before it answers, in addition to the client's timeout.
    public var wait: Duration = .zero

    /// Makes a command.
    ///
    /// - Parameters:
    ///   - name: The command's name.
    ///   - arguments: Its arguments, as text or bytes.
    public init(_ name: String, _ arguments: [any RedisArgument]) {
        append(head: "*", arguments.count + 1)
        append(Array(name.utf8))
        for argument in arguments { append(argument.redisBytes) }
    }

    /// Makes a command.
    ///
    /// - Parameters:
    ///   - name: The command's name.
    ///   - arguments: Its arguments, as text or bytes.
    public init(_ name: String, _ arguments: any RedisArgument...) { self.init(name, arguments) }

    /// Makes a command whose arguments are appended one by one.
    ///
    /// - Parameters:
    ///   - name: The command's name.
    ///   - count: The number of arguments that will be appended.
    public init(_ name: String, count: Int) {
        bytes.reserveCapacity(32 * count + 32)
        append(head: "*", count + 1)
        append(name)
    }

    /// Appends an argument.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the argument.
    ///   - middle: What follows.
    ///   - suffix: Its end.
    public mutating func append(_ prefix: String, _ middle: String = "", _ suffix: String = "") {
        append(head: "$", prefix.utf8.count + middle.utf8.count + suffix.utf8.count)
        bytes.append(contentsOf: prefix.utf8)
        bytes.append(contentsOf: middle.utf8)
        bytes.append(contentsOf: suffix.utf8)
        appendLineEnd()
    }

    private mutating func append(head: Character, _ count: Int) {
        bytes.append(head.asciiValue ?? 0)
        append(digitsOf: count)
        appendLineEnd()
    }

    private mutating func append(digitsOf count: Int) {
        if count >= 10 { append(digitsOf: count / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(count % 10))
    }

    private mutating func append(_ argument: [UInt8]) {
        append(head: "$", argument.count)
        bytes.append(contentsOf: argument)
        appendLineEnd()
    }

    private mutating func appendLineEnd() {
        bytes.append(13)
        bytes.append(10)
    }
}

/// An argument of a ``RedisCommand``.
public protocol RedisArgument {
    /// The bytes of the argument.
    var redisBytes: [UInt8] { get }
}

extension String: RedisArgument {
    /// The text in UTF-8.
    public var redisBytes: [UInt8] { Array(utf8) }
}

extension Int: RedisArgument {
    /// The number in decimal digits.
    public var redisBytes: [UInt8] { Array(String(self).utf8) }
}

extension UInt64: RedisArgument {
    /// The number in decimal digits.
    public var redisBytes: [UInt8] { Array(String(self).utf8) }
}

extension [UInt8]: RedisArgument {
    /// The bytes themselves.
    public var redisBytes: [UInt8] { self }
}

/// What a server answers.
public enum RedisReply: Sendable, Equatable {
    /// Nothing: no such key, or a wait that ended without an event.
    case null
    /// A number.
    case integer(Int)
    /// The bytes of a value.
    case bytes([UInt8])
    /// A word such as `OK`.
    case status(String)
    /// The error of one command. Other commands of a pipeline are answered all the same.
    case error(String)
    /// Several answers.
    case array([RedisReply])

    /// The bytes of a value or of a status; nil for anything else.
    public var data: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .status(let text): Array(text.utf8)
        default: nil
        }
    }

    /// The text of a value or of a status; nil for anything else.
    public var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }

    /// The elements of an array; nil for anything else.
    public var elements: [RedisReply]? { if case .array(let array) = self { array } else { nil } }

    /// The number, or the number that a value has as text; nil for anything else.
    public var number: Int? {
        if case .integer(let number) = self { return number }
        return text.flatMap(Int.init)
    }
}

/// Why a server could not be asked, or did not answer.
public enum RedisError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No connection can be made, or it has ended. What was sent may have been done or not.
    case unreachable(String)
    /// The server has not answered in time. What was sent may have been done or not.
    case timedOut
    /// The server does not accept the password or the user.
    case denied(String)
    /// The server is older than the oldest version that this library works with.
    case unsupportedVersion(String)
    /// The server's answer to a command is an error.
    case refused(String)
    /// The server's answer is not one that the protocol knows, or not one to that command.
    case malformed(String)

    /// The error in words, and what to do.
    public var description: String {
        switch self {
        case .unreachable(let detail): "The server can't be reached: \(detail)."
        case .timedOut: "The server did not answer in time."
        case .denied(let detail):
            "The server refuses the user or the password: \(detail). Check the configuration."
        case .unsupportedVersion(let version):
            "The server has version \(version). Use Redis 6.2 or later, or Valkey."
        case .refused(let detail): "The server answers with an error: \(detail)."
        case .malformed(let detail): "The server's answer is not understood: \(detail)."
        }
    }
}
