import EspalierFleet
public import EspalierRedis
import Foundation
import Synchronization

/// A Redis server of a test's own, on a free port, with its files in a temporary directory.
///
/// ```swift
/// let server = try TestServer()
/// defer { server.remove() }
/// var configuration = FleetConfiguration(servers: [server.address])
/// ```
public final class TestServer: Sendable {
    public let port: Int
    public let password: String?
    private let directory: String
    private let arguments: [String]
    private let process = Mutex<Process?>(nil)

    public struct NoServer: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameter arguments: Further arguments of `redis-server`.
    public init(password: String? = nil, arguments: [String] = []) throws {
        self.password = password
        self.arguments = arguments
        port = try Self.freePort()
        directory = NSTemporaryDirectory() + "espalier-fleet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        try start()
    }

    public var address: RedisAddress {
        RedisAddress(host: "127.0.0.1", port: port, password: password)
    }

    /// Starts the server, and waits until it answers.
    public func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "",
                "--dir", directory, "--daemonize", "no",
            ] + (password.map { ["--requirepass", $0] } ?? []) + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
        let end = Date() + 10
        while Date() < end {
            if (try? RedisConnection(address, timeout: .milliseconds(500))) != nil { return }
            Thread.sleep(forTimeInterval: 0.01)
        }
        throw NoServer(description: "redis-server does not answer; is it installed?")
    }

    private func signal(_ number: Int32) {
        process.withLock { process in
            guard let process, process.isRunning else { return }
            _ = Foundation.kill(process.processIdentifier, number)
        }
    }

    /// Ends the server with SIGKILL: what it had in memory is lost.
    public func kill() {
        signal(SIGKILL)
        process.withLock { $0 }?.waitUntilExit()
    }

    /// Lets the server stand still with SIGSTOP.
    public func pause() { signal(SIGSTOP) }

    /// Lets a server go on.
    public func resume() { signal(SIGCONT) }

    /// Ends the server and removes its files.
    public func remove() {
        resume()
        kill()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Sends a command on a connection of its own.
    @discardableResult
    public func send(_ name: String, _ arguments: any RedisArgument...) throws -> RedisReply {
        let connection = try RedisConnection(address, timeout: .seconds(5))
        return try connection.send([RedisCommand(name, arguments)])[0]
    }

    /// Cuts all connections of others.
    public func cutConnections() throws {
        try send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    }

    private static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let bound = unsafe bind(socket, address, length)
                return unsafe bound == 0 ? getsockname(socket, address, &length) : bound
            }
        }
        guard status == 0 else { throw NoServer(description: "no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
