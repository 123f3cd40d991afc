import CZstd

/// The zstd library in use.
///
/// Example: `ZstdLibrary.version == "1.5.4"`.
public enum ZstdLibrary {
    /// Major, minor and patch version of the library that is loaded.
    public static var version: String {
        let number = ZSTD_versionNumber()
        return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}
