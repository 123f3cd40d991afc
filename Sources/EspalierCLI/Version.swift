import EspalierCompression
import EspalierLMDB

/// The version of the tool and of what it is built on.
enum Version {
    static let number = "0.1.0"

    static var current: String {
        "espalier \(number), LMDB \(LMDBLibrary.version), zstd \(ZstdLibrary.version)"
    }
}
