import Foundation

@testable import EspalierLMDB

extension Scratch {
    func image() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: data)) }

    /// Puts `image` in place of the data file. Its times may be those of the file before, to the
    /// tick of the clock, so the mark goes, too.
    func replace(by image: Data) throws {
        try image.write(to: URL(fileURLWithPath: data))
        guardFile.setMark(IntactMark.none)
    }

    /// Walks the file, or `image`, without opening it.
    func check(_ image: Data? = nil) throws(LMDBError) {
        let folder = try OpenFile(directory: directory, .open)
        if let image { try? image.write(to: URL(fileURLWithPath: directory + "/image")) }
        let name = image == nil ? EnvironmentFiles.data : "image"
        let file = try OpenFile(name, in: folder.descriptor, flags: 0, .open)
        guard let head = try DataFileHead.latest(file) else { return }
        try StructureCheck.check(file, head)
    }

    /// Whether the next open may do without a check.
    var isMarked: Bool {
        get throws(LMDBError) {
            let folder = try OpenFile(directory: directory, .open)
            guard let status = try folder.status(of: EnvironmentFiles.data, .open) else {
                return false
            }
            return IntactMark(status).matches(guardFile.mark)
        }
    }
}
