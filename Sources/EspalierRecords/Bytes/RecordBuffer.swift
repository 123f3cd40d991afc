/// A record's bytes in memory of their own: joined from chunks, uncompressed, or made up by a test.
@safe
package final class RecordBuffer {
    private let bytes: UnsafeMutableRawBufferPointer

    package init(_ copied: [UInt8]) {
        unsafe bytes = .allocate(byteCount: copied.count, alignment: 8)
        unsafe bytes.copyBytes(from: copied)
    }

    deinit { unsafe bytes.deallocate() }

    /// Reads the bytes; of use as long as the buffer lives.
    package var reader: ByteReader { unsafe ByteReader(UnsafeRawBufferPointer(bytes)) }
}
