/// The LMDB library in use.
///
/// Example: `LMDBLibrary.version == "0.9.24"`.
public enum LMDBLibrary {
    /// Major, minor and patch version of the library that is loaded.
    public static var version: String { LMDBCalls.version }
}
