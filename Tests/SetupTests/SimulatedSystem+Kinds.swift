// The systems that people build on.
extension SimulatedSystem {
    enum User {
        case root, withoutSudo, withSudo
        /// sudo asks for a password, and takes it where there is a terminal.
        case withPassword
        /// sudo asks, and refuses whatever is said.
        case refused
    }

    /// Packages that libraries are in, by what pkg-config calls those.
    private static let libraries = ["lmdb": "liblmdb-dev", "libzstd": "libzstd-dev"]
    private static let benchLibraries = [
        "rocksdb": "librocksdb-dev", "sqlite3": "libsqlite3-dev", "valgrind": "valgrind",
    ]

    /// With Swift, LMDB and zstd, and `bench` what the benchmarks take, apart from the `missing`
    /// packages.
    static func debian(
        missing: [String] = [], user: User = .root, aptFails: Bool = false, bench: Bool = false
    ) throws -> SimulatedSystem {
        let libraries = libraries.merging(bench ? benchLibraries : [:]) { $1 }.filter {
            !missing.contains($0.value)
        }
        let system = try SimulatedSystem()
        try system.addSwift("Swift version 6.2.1 (swift-6.2.1-RELEASE)")
        if !missing.contains("pkg-config") {
            try system.addPkgConfig(libraries.keys.sorted())
        }
        let present = libraries.values.sorted() + ["pkg-config"].filter { !missing.contains($0) }
        try system.add(
            "dpkg",
            "case \" \(present.joined(separator: " ")) \" in *\" $2 \"*) \(Self.installed) ;; esac; exit 1"
        )
        try system.add(
            "apt-get", aptFails ? "echo 'E: Unable to fetch some archives' >&2; exit 100" : "exit 0"
        )
        try system.add("id", "echo \(user == .root ? 0 : 1000)")
        switch user {
        case .root, .withoutSudo: break
        case .withSudo: try system.add("sudo", "[ \"$1\" = -n ] && shift; exec \"$@\"")
        case .withPassword:
            try system.add("sudo", "case \"$1\" in -n) exit 1 ;; -v) exit 0 ;; esac; exec \"$@\"")
        case .refused: try system.add("sudo", "exit 1")
        }
        return system
    }

    private static let installed = "echo 'Status: install ok installed'; exit 0"

    /// Neither apt nor dpkg: another Linux, or macOS.
    static func withoutApt(_ kernel: String, libraries: [String], commands: [String] = []) throws
        -> SimulatedSystem
    {
        let system = try SimulatedSystem()
        try system.addSwift("Apple Swift version 6.2 (swiftlang-6.2.0.19.9 clang-1700.3.19.1)")
        try system.add("uname", "echo \(kernel)")
        try system.addPkgConfig(libraries)
        for command in commands { try system.add(command, "exit 0") }
        return system
    }

    func addSwift(_ version: String) throws { try add("swift", "echo '\(version)'") }

    private func addPkgConfig(_ libraries: [String]) throws {
        try add(
            "pkg-config",
            "case \" \(libraries.joined(separator: " ")) \" in *\" $2 \"*) exit 0 ;; esac; exit 1")
    }
}
