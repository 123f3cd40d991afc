import Feeds
import Foundation
import Testing

@testable import Comparison

@Suite("Surroundings of a report")
struct SurroundingsTests {
    @Test("The report names the versions of the libraries")
    func versions() {
        let surroundings = Surroundings(directory: NSTemporaryDirectory())
        let told = surroundings.versions.all
        for name in ["LMDB", "zstd", "RocksDB", "SQLite"] {
            #expect(told.contains { $0.name == name && $0.version.contains(".") }, "\(name)")
        }
        for (name, version) in told { #expect(surroundings.text.contains("\(name) \(version)")) }
    }

    @Test("The report leaves out facts that are unknown")
    func leftOut() {
        var surroundings = Surroundings(directory: "/dev/null/none")
        #expect(surroundings.fileSystem == nil)
        #expect(surroundings.versions.rocksDB == nil)
        surroundings.processor = nil
        surroundings.processors = 2
        #expect(surroundings.machine == "2")
        #expect(surroundings.text.contains(", 2 processors, "))
        #expect(!surroundings.text.contains("RocksDB"))
    }

    @Test("The file system of a path is the last one mounted at the deepest folder above it")
    func mounts() {
        let table = MountTable(
            parsing: """
                1 0 8:1 / / rw - ext4 /dev/sda1 rw
                2 1 0:5 / /tmp rw,nosuid shared:7 - tmpfs tmpfs rw
                3 1 0:6 / /data rw - ext4 /dev/sdb rw
                4 1 0:7 / /data rw - xfs /dev/sdc rw
                5 1 0:8 / /with\\040blank rw - btrfs /dev/sdd rw

                nonsense
                6 1 0:9 / /cut rw -
                """)
        #expect(table.mount(of: "/home/me")?.type == "ext4")
        #expect(table.mount(of: "/tmp")?.type == "tmpfs")
        #expect(table.mount(of: "/tmp/a/b")?.type == "tmpfs")
        #expect(table.mount(of: "/tmpfile")?.type == "ext4")
        #expect(table.mount(of: "/data/x")?.type == "xfs")
        #expect(table.mount(of: "/with blank/x")?.type == "btrfs")
        #expect(table.mount(of: "/cut/x")?.type == "ext4")
        #expect(MountTable(parsing: "").mount(of: "/")?.type == nil)
    }

    @Test("Versions of libraries without a call for them are found in their files, or are nil")
    func found() {
        func compiler(_ program: String) -> String? {
            Versions.swiftVersion(in: Data(program.utf8))
        }
        #expect(compiler("a\0Swift version \0b\0Swift version \(1).2.3 (swift)\0") == "1.2.3")
        #expect(compiler("Swift version ") == nil)
        #expect(compiler("") == nil)

        #expect(
            Versions.rocksDBVersion(inOptions: "[Version]\n  rocksdb_version=7.8.3\n  x=1.1\n")
                == "7.8.3")
        #expect(Versions.rocksDBVersion(inOptions: "[Version]\n  rocksdb_version=\n") == nil)

        func resolved(_ file: String) -> String? {
            Versions.resolvedVersion(of: "one", in: Data(file.utf8))
        }
        #expect(
            resolved(#"{"pins": [{"identity": "one", "state": {"version": "1.2.3"}}]}"#) == "1.2.3")
        #expect(resolved(#"{"pins": [{"identity": "one", "state": {"branch": "main"}}]}"#) == nil)
        #expect(resolved(#"{"pins": [{"identity": "two", "state": {"version": "1.2.3"}}]}"#) == nil)
        #expect(resolved("nonsense") == nil)
    }
}
