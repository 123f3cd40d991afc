#if CommandLine
import EspalierFixtures
import Testing

@Suite("The file system of a path")
struct MountTableTests {
    private let table = MountTable(
        parsing: """
            22 1 0:21 / / rw,relatime - overlay overlay rw,lowerdir=/a
            30 22 0:25 / /mnt/my\\040disk\\134 rw shared:1 master:2 - nfs4 server:/x rw,vers=4.2
            31 22 0:26 / /mnt ro,nosuid - ext4 /dev/sda1 rw
            32 22 0:27 / /data rw - xfs /dev/sdb1 ro
            33 22 0:27 / /data rw - btrfs /dev/sdc1 rw
            garbage
            1 2 3 - x
            """)

    @Test(
        "The longest mount point that contains the path counts, and of equal ones the last",
        arguments: [
            ("/", "overlay"), ("/home/me", "overlay"), ("/mnt", "ext4"), ("/mnt/a", "ext4"),
            ("/mnt/my disk\\/c", "nfs4"),
            ("/mnt/my disk", "ext4"), ("/mntx", "overlay"), ("/data/c", "btrfs"),
        ])
    func longest(path: String, type: String) {
        #expect(table.mount(of: path)?.type == type)
    }

    @Test("Read-only is an option of the mount or of the file system")
    func readOnly() {
        #expect(table.mounts.map(\.isReadOnly) == [false, false, true, true, false])
    }

    @Test("An empty mount table has no file system for any path")
    func empty() {
        #expect(MountTable(parsing: "").mount(of: "/") == nil)
    }
}
#endif
