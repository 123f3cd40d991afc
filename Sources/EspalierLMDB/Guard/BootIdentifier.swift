#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Names the time since the machine was started; empty where the system does not tell.
enum BootIdentifier {
    static let current: [UInt64] = {
        var words: [UInt64] = []
        for (index, byte) in read().enumerated() {
            if index % 8 == 0 { words.append(0) }
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        return words
    }()

    /// 36 characters on both.
    private static func read() -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: 64)
        #if canImport(Glibc)
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count >= 36 else { return [] }
        #else
        var count = bytes.count
        let result = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe sysctlbyname("kern.bootsessionuuid", buffer.baseAddress, &count, nil, 0)
        }
        guard result == 0, count >= 36 else { return [] }
        #endif
        return bytes.prefix(36)
    }
}
