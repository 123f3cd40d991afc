import Foundation

/// The memory in which the system keeps files.
enum PageCache {
    /// Makes the system drop the files below a directory, which must not be open, from memory.
    /// Returns whether it did: dirty pages stay, and pages of a file system in memory.
    static func forget(_ directory: String) throws -> Bool {
        var isForgotten = true
        for path in try DirectorySize.files(directory) {
            let descriptor = Foundation.open(path, O_RDONLY)
            guard descriptor >= 0 else { throw ComparisonError.system("open", errno) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw ComparisonError.system("fsync", errno) }
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            isForgotten = try residentPages(descriptor) == 0 && isForgotten
        }
        return isForgotten
    }

    private static func residentPages(_ descriptor: Int32) throws -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ComparisonError.system("fstat", errno) }
        guard status.st_size > 0 else { return 0 }
        let size = Int(status.st_size)
        guard let map = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED
        else {
            throw ComparisonError.system("mmap", errno)
        }
        defer { munmap(map, size) }
        let page = Int(getpagesize())
        var resident = [UInt8](repeating: 0, count: (size + page - 1) / page)
        guard mincore(map, size, &resident) == 0 else {
            throw ComparisonError.system("mincore", errno)
        }
        return resident.count { $0 & 1 == 1 }
    }
}
