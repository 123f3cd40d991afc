/// A number of bytes.
///
/// Example: `ByteCount.mebibytes(50).bytes == 52_428_800`.
public struct ByteCount: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let bytes: Int

    public init(_ bytes: Int) { self.bytes = bytes }

    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count << 30) }

    public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }

    public var description: String { "\(bytes) bytes" }
}
