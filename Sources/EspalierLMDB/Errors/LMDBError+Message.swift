extension LMDBError {
    /// What went wrong and what to do about it.
    public var message: String {
        switch code {
        case .mapFull:
            "the map is full; abort, remove entries in small transactions, then try again"
        case .readersFull:
            "no reader slot is free; end reads sooner, or create the environment with more readers"
        case .readerSlotTaken:
            "another container uses this directory with our process identifier; give each its own"
        case .diskFull:
            "the disk or quota is full; drop the write and free space before writing again"
        case .keyEmpty: "a key must have at least one byte"
        case .keyTooLong:
            "a key may have at most \(Environment.maximumKeySize) bytes; shorten or hash it"
        case .valueTooLong: "the value exceeds Environment.maximumValueSize; store it in chunks"
        case .outOfOrder: "the key does not follow the last key of the keyspace; use put instead"
        case .transactionTooLarge:
            "too many changes for one transaction; abort and write in smaller ones"
        case .pageFull: "a page could not be split; drop the write, and link LMDB 0.9.30 or later"
        case .notWritable: "opened read-only, or on a read-only file system; open it writable"
        case .permissionDenied:
            "permission denied; the directory and its files must belong to this user"
        case .notFound:
            "no such file or directory; create the directory, or open with creation allowed"
        case .missingKeyspace:
            "a keyspace is missing; open writable once to create it, or recreate the file"
        case .badPath:
            "not a plain file of its own (link, directory or device); remove it and open again"
        case .corrupted: "the file is damaged; replace it"
        case .invalidFile: "not an LMDB file, or cut short; replace it"
        case .versionMismatch: "written by an incompatible LMDB; replace it"
        case .mapResized:
            "another process uses a larger map; follow it, or open with the same size everywhere"
        case .panic: "an earlier write failed half-way; close the environment and open it again"
        case .alreadyOpen: "this directory is open in this process; share that environment"
        case .usedAfterFork: "opened before fork; open it anew in the child"
        case .closed: "the environment was closed; open it again"
        case .transactionEnded:
            "its transaction has ended; use snapshots and cursors inside the transaction only"
        case .transactionFailed:
            "an earlier call in this transaction failed; nothing was written, start a new one"
        case .busy:
            "another thread or process holds the lock, or has not ended its transaction; try again later"
        case .outOfMemory: "out of memory or address space; use a smaller map"
        case .ioFailure: "the device reported an input/output error"
        case .other(let number): "system error \(number)"
        }
    }
}
