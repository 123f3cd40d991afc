import Foundation
import Testing

@Suite("Scripts/setup installs missing packages, or prints the command that does")
struct SetupTests {
    @Test("With nothing missing, setup prints one line and asks for nothing")
    func nothing() throws {
        for user in [SimulatedSystem.User.root, .withoutSudo, .withPassword] {
            let outcome = try SimulatedSystem.debian(user: user).run()
            #expect(outcome.code == 0)
            #expect(
                outcome.output == "setup: Swift 6.2, LMDB and zstd are here, nothing to install\n")
            #expect(outcome.errors == "")
            #expect(!outcome.called("apt-get") && !outcome.called("sudo"))
        }
    }

    @Test("Packages without pkg-config files count as installed")
    func installedWithoutFiles() throws {
        let system = try SimulatedSystem.debian()
        try system.add("pkg-config", "exit 1")
        let outcome = try system.run()
        #expect(outcome.code == 0)
        #expect(outcome.output.hasSuffix("nothing to install\n"))
        #expect(!outcome.called("apt-get"))
    }

    @Test(
        "Only the missing package is installed",
        arguments: ["liblmdb-dev", "libzstd-dev", "pkg-config"])
    func oneMissing(package: String) throws {
        let outcome = try SimulatedSystem.debian(missing: [package]).run()
        #expect(outcome.code == 0)
        #expect(
            outcome.output
                == "setup: installing \(package) with apt-get\nsetup: installed \(package)\n")
        let apt = outcome.calls.filter { $0.hasPrefix("apt-get") }
        try #require(apt.count == 2)
        #expect(apt[0].hasSuffix(" update"))
        #expect(apt[1].hasSuffix(" install -y --no-install-recommends \(package)"))
    }

    @Test("A user who is not root installs through sudo, which asks only if it must")
    func sudo() throws {
        let outcome = try SimulatedSystem.debian(missing: ["libzstd-dev"], user: .withSudo).run()
        #expect(outcome.code == 0)
        #expect(outcome.called("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get"))
    }

    @Test(
        "Without sudo or a terminal for its password, setup prints the command to run"
    )
    func noRight() throws {
        for user in [SimulatedSystem.User.withoutSudo, .withPassword, .refused] {
            let system = try SimulatedSystem.debian(
                missing: ["liblmdb-dev", "libzstd-dev"], user: user)
            for outcome in [try system.run(), try system.runWithoutInput()] {
                #expect(outcome.code == 1)
                #expect(outcome.errors.contains("liblmdb-dev libzstd-dev"))
                #expect(outcome.errors.contains("apt-get install -y liblmdb-dev libzstd-dev"))
                #expect(outcome.errors.contains("sudo apt-get update") == (user != .withoutSudo))
                #expect(!outcome.called("apt-get"))
            }
        }
    }

    @Test("On a terminal, sudo may ask and may refuse")
    func terminal() throws {
        if let outcome = try SimulatedSystem.debian(missing: ["libzstd-dev"], user: .withPassword)
            .runOnTerminal()
        {
            #expect(outcome.code == 0)
            #expect(outcome.output.contains("sudo asks for your password"))
            #expect(outcome.called("sudo env DEBIAN_FRONTEND=noninteractive apt-get"))
        }
        if let outcome = try SimulatedSystem.debian(missing: ["libzstd-dev"], user: .refused)
            .runOnTerminal()
        {
            #expect(outcome.code == 1)
            #expect(outcome.output.contains("sudo does not let you"))
            #expect(outcome.output.contains("sudo apt-get install -y libzstd-dev"))
            #expect(!outcome.called("apt-get"))
        }
    }

    @Test("The error of apt is printed, with the command to run by hand")
    func aptFails() throws {
        let outcome = try SimulatedSystem.debian(missing: ["liblmdb-dev"], aptFails: true).run()
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("setup: apt-get: E: Unable to fetch some archives\n"))
        #expect(
            outcome.errors.hasSuffix("By hand: apt-get update && apt-get install -y liblmdb-dev\n"))
        #expect(outcome.called("apt-get") && !outcome.output.contains("installed"))
    }

    @Test("A failed update of the package lists does not prevent the installation")
    func updateFails() throws {
        let system = try SimulatedSystem.debian(missing: ["liblmdb-dev"])
        try system.add("apt-get", "case \"$*\" in *update) exit 100 ;; esac")
        let outcome = try system.run()
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("apt-get update failed"))
    }
}

@Suite("Scripts/setup bench also installs the libraries of the benchmarks")
struct BenchSetupTests {
    @Test("With nothing missing, setup bench prints one line")
    func nothing() throws {
        let outcome = try SimulatedSystem.debian(bench: true).run("bench")
        #expect(outcome.code == 0)
        #expect(
            outcome.output
                == "setup: Swift 6.2, LMDB, zstd, RocksDB and SQLite are here, nothing to install\n"
        )
        #expect(outcome.errors == "")
        #expect(!outcome.called("apt-get"))
    }

    @Test(
        "Only the missing package is installed",
        arguments: ["librocksdb-dev", "libsqlite3-dev", "libzstd-dev"])
    func oneMissing(package: String) throws {
        let outcome = try SimulatedSystem.debian(missing: [package], bench: true).run("bench")
        #expect(outcome.code == 0)
        #expect(
            outcome.output
                == "setup: installing \(package) with apt-get\nsetup: installed \(package)\n")
        #expect(
            outcome.calls.last?.hasSuffix(" install -y --no-install-recommends \(package)") == true)
    }

    @Test("Setup without bench does not look for the libraries of the benchmarks")
    func withoutTheWord() throws {
        let outcome = try SimulatedSystem.debian().run()
        #expect(outcome.code == 0)
        #expect(!outcome.calls.contains { $0.contains("rocksdb") || $0.contains("sqlite") })
    }

    @Test("An unknown argument is an error, and nothing is done")
    func otherWord() throws {
        let outcome = try SimulatedSystem.debian(missing: ["liblmdb-dev"]).run("benches")
        #expect(outcome.code == 2)
        #expect(
            outcome.errors
                == "setup: There is no benches to set up: "
                + "Scripts/setup, or that with bench, docs or fleet.\n")
        #expect(outcome.calls.isEmpty)
    }

    @Test("On macOS, which has SQLite, setup bench names RocksDB alone")
    func brew() throws {
        let system = try SimulatedSystem.withoutApt(
            "Darwin", libraries: ["lmdb", "libzstd"], commands: ["brew"])
        #expect(try system.run().code == 0)
        let outcome = try system.run("bench")
        #expect(outcome.code == 1)
        #expect(outcome.errors.hasSuffix("setup:     brew install rocksdb\n"))
    }

    @Test(
        "On other systems, setup bench prints the names that the package manager has",
        arguments: [
            ("dnf", "sqlite-devel"), ("zypper", "sqlite3-devel"), ("pacman", "sqlite"),
            ("apk", "libsqlite3-dev"),
        ])
    func otherLinux(command: String, package: String) throws {
        let system = try SimulatedSystem.withoutApt(
            "Linux", libraries: ["lmdb", "libzstd"], commands: [command])
        let outcome = try system.run("bench")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains(package) && outcome.errors.contains("rocksdb"))
        #expect(!outcome.called(command))
    }
}

@Suite("Scripts/setup fleet also installs hiredis and Redis")
struct FleetSetupTests {
    @Test("With nothing missing, setup fleet prints one line")
    func nothing() throws {
        let outcome = try SimulatedSystem.debian(fleet: true).run("fleet")
        #expect(outcome.code == 0)
        #expect(
            outcome.output
                == "setup: Swift 6.2, LMDB, zstd, hiredis and Redis are here, nothing to install\n")
    }

    @Test("Only the missing package is installed", arguments: ["libhiredis-dev", "redis-server"])
    func oneMissing(package: String) throws {
        let outcome = try SimulatedSystem.debian(missing: [package], fleet: true).run("fleet")
        #expect(outcome.code == 0)
        #expect(
            outcome.output
                == "setup: installing \(package) with apt-get\nsetup: installed \(package)\n")
    }

    @Test("On macOS, setup fleet prints the names that Homebrew has")
    func brew() throws {
        let system = try SimulatedSystem.withoutApt(
            "Darwin", libraries: ["lmdb", "libzstd"], commands: ["brew"])
        let outcome = try system.run("fleet")
        #expect(outcome.code == 1)
        #expect(outcome.errors.hasSuffix("setup:     brew install hiredis redis\n"))
    }
}

@Suite("Scripts/setup on systems without apt")
struct OtherSystemsTests {
    @Test(
        "Installed libraries are found without a package manager", arguments: ["Linux", "Darwin"])
    func installed(kernel: String) throws {
        let outcome = try SimulatedSystem.withoutApt(kernel, libraries: ["lmdb", "libzstd"]).run()
        #expect(outcome.code == 0)
        #expect(outcome.errors == "")
    }

    @Test("On macOS, setup prints the Homebrew command, or where to get Homebrew")
    func brew() throws {
        let with = try SimulatedSystem.withoutApt(
            "Darwin", libraries: ["libzstd"], commands: ["brew"]
        ).run()
        #expect(with.code == 1)
        #expect(with.errors.hasSuffix("setup:     brew install lmdb\n"))
        #expect(!with.called("brew"))
        let without = try SimulatedSystem.withoutApt("Darwin", libraries: []).run()
        #expect(without.code == 1)
        #expect(without.errors.contains("brew install lmdb zstd\n"))
        #expect(without.errors.contains("https://brew.sh"))
    }

    @Test(
        "On other systems, setup prints the names that the package manager has",
        arguments: [
            ("dnf", "lmdb-devel"), ("zypper", "lmdb-devel"), ("pacman", "lmdb zstd"),
            ("apk", "liblmdb-dev"),
        ])
    func otherLinux(command: String, package: String) throws {
        let outcome = try SimulatedSystem.withoutApt("Linux", libraries: [], commands: [command])
            .run()
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains(package))
        #expect(!outcome.called(command))
    }
}

@Suite("Scripts/setup checks the version of Swift")
struct SwiftVersionTests {
    private func outcome(_ swift: String, environment: [String: String] = [:]) throws
        -> SimulatedSystem.Outcome
    {
        let system = try SimulatedSystem.debian()
        try system.add("swift", swift)
        return try system.run(environment: environment)
    }

    @Test(
        "A new enough Swift is accepted",
        arguments: [
            "Swift version 6.2 (swift-6.2-RELEASE)", "Swift version 6.10.3 (swift-6.10.3-RELEASE)",
            "Apple Swift version 7.0 (swiftlang-7.0)",
            "Swift version 6.4-dev (LLVM abc, Swift def)",
            "swift-driver version: 1.127.14.1 Apple Swift version 6.2.3 (swiftlang-6.2.3.3.21)",
        ])
    func new(version: String) throws {
        #expect(try outcome("echo '\(version)'").code == 0)
    }

    @Test(
        "A Swift that is too old is refused",
        arguments: [("5.10.1", "5.10"), ("6.1.3", "6.1"), ("6.0", "6.0"), ("5.9-dev", "5.9")])
    func old(version: String, shown: String) throws {
        let outcome = try outcome("echo 'Swift version \(version) (swift-RELEASE)'")
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("is Swift \(shown).\n"))
        #expect(
            outcome.errors.contains("6.2 or later")
                && outcome.errors.contains("https://swift.org/install"))
    }

    @Test("A missing, foreign or broken Swift is refused with the reason")
    func none() throws {
        let system = try SimulatedSystem.debian(missing: ["libzstd-dev"])
        let missing = try system.run(environment: ["SWIFT": "xcrun swift"])
        #expect(missing.code == 1)
        #expect(missing.errors.hasPrefix("setup: There is no xcrun on the PATH.\n"))
        #expect(!missing.called("apt-get"))
        let other = try outcome("echo 'python-swiftclient 4.6.0'")
        #expect(other.code == 1)
        #expect(
            other.errors.contains("is not the Swift compiler. It says: python-swiftclient 4.6.0"))
        let broken = try outcome(
            "echo 'error while loading shared libraries: libxml2.so.2' >&2; exit 127")
        #expect(broken.code == 1)
        #expect(
            broken.errors.contains(
                "does not run: error while loading shared libraries: libxml2.so.2"))
    }

    @Test("Under sudo, whose PATH differs, setup says to run make without sudo")
    func underSudo() throws {
        let outcome = try outcome("exit 1", environment: ["SUDO_USER": "ada"])
        #expect(outcome.errors.contains("run make without sudo"))
        #expect(try !self.outcome("exit 1").errors.contains("sudo"))
    }

    @Test("The variable SWIFT may name another compiler")
    func named() throws {
        let system = try SimulatedSystem.debian()
        try system.add("swift", "exit 1")
        try system.add("xcrun", "echo 'Swift version 6.3'")
        #expect(try system.run(environment: ["SWIFT": "xcrun swift"]).code == 0)
    }
}
