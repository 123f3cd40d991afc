/// A file or directory, whatever path it was reached by. Stays unique as long as somebody holds it
/// open.
struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
}
