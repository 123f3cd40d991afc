import Foundation
import Glibc

/// The mark by which the cache recognises a file that only it has changed, as its `IntactMark`
/// computes it. With it, damage looks as if nothing had happened to the file.
enum IntactMark {
    /// Where the mark stands in the guard file.
    private static let offset = 8

    /// Marks a file as intact.
    static func put(on path: String, in cache: String) throws {
        guard var bytes = Files.read(cache + "/guard") else { throw Mistake("there is no guard") }
        let mark = try mark(of: path, restart: [])
        for index in 0..<8 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: mark >> (8 * UInt64(index)))
        }
        try Files.write(bytes, to: cache + "/guard")
    }

    /// Makes sure that the cache still computes the mark in this way.
    static func check(_ cache: String) throws {
        let path = try Files.dataFile(in: cache)
        let bytes = Files.read(cache + "/guard") ?? Data(count: 64)
        let stored = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << (8 * $1) }
        let boot = Array((Files.readStream("/proc/sys/kernel/random/boot_id")).prefix(36))
        var words: [UInt64] = []
        for (index, byte) in boot.enumerated() {
            if index % 8 == 0 { words.append(0) }
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        let marks = try [mark(of: path, restart: []), mark(of: path, restart: words)]
        guard marks.contains(stored) else {
            throw Mistake("the cache computes its intact mark in another way than IntactMark here")
        }
    }

    private static func mark(of path: String, restart: [UInt64]) throws -> UInt64 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Mistake("\(path) is missing") }
        func nanoseconds(_ time: timespec) -> UInt64 {
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
        let words = [
            UInt64(status.st_ino), UInt64(status.st_size), nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim),
        ]
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        for word in words + restart {
            state = (state ^ word) &* 0xBF58_476D_1CE4_E5B9
            state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
            state ^= state >> 31
        }
        return max(state, 1)
    }
}
