import Feeds

/// A contender in a directory of its own.
final class Stand {
    let contestant: Contestant
    let directory: String
    let contender: any Contender

    init(_ contestant: Contestant, in directory: String, durability: Durability) throws {
        self.contestant = contestant
        self.directory = directory + "/" + contestant.id.rawValue
        contender = try contestant.make(self.directory, durability)
        try contender.open()
    }

    /// Writes the feeds that are then read.
    func fill(_ feeds: [Feed]) throws {
        for feed in feeds { try contender.write(feed) }
        try contender.settle()
    }

    /// Returns the bytes that the system allocated for the directory.
    func bytesOnDisk() throws -> Int { try DirectorySize.allocated(directory) }
}
